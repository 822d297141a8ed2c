import { sessionsMigration } from './001-sessions.ts';
import { idempotencyMigration } from './002-idempotency.ts';
import { daemonsMigration } from './003-daemons.ts';
import { workflowsMigration } from './004-workflows.ts';
import { researchMigration } from './005-research.ts';
import { commanderMigration } from './006-commander.ts';
import { breakersMigration } from './007-breakers.ts';
import { parallelResearchMigration } from './008-parallel-research.ts';
import { waitingWorkMigration } from './009-waiting-work.ts';
import { recordedIssuesMigration } from './010-recorded-issues.ts';
import { lookingAtSessionsMigration } from './011-looking-at-sessions.ts';
import { boundedReadsMigration } from './012-bounded-reads.ts';
import { commitMarksMigration } from './013-commit-marks.ts';
import { sessionBranchesMigration } from './014-session-branches.ts';
import { notesMigration } from './015-notes.ts';
import { packsMigration } from './016-packs.ts';
import { countedSessionsMigration } from './017-counted-sessions.ts';
import { moduleVersionsMigration } from './018-module-versions.ts';
import { refereeMigration } from './019-referee.ts';
import { projectRequestsMigration } from './020-project-requests.ts';
import { contextMigration } from './021-context.ts';
import { jobsMigration } from './022-jobs.ts';
import { afterSessionsMigration } from './023-after-sessions.ts';
import { agentSlotsMigration } from './024-agent-slots.ts';
import { briefSectionsMigration } from './025-brief-sections.ts';
import { devicesMigration } from './026-devices.ts';
import { afterCareMigration } from './027-after-care.ts';
import { schedulesMigration } from './028-schedules.ts';
import { embeddingsMigration } from './029-embeddings.ts';
import { turnParentsMigration } from './030-turn-parents.ts';
import { failedOnBaseMigration } from './031-failed-on-base.ts';
import type { Migration } from './types.ts';

/** In order, never changed once released: the database's version is how many of them it has had. */
export const MIGRATIONS: readonly Migration[] = [
  sessionsMigration,
  idempotencyMigration,
  daemonsMigration,
  workflowsMigration,
  researchMigration,
  commanderMigration,
  breakersMigration,
  parallelResearchMigration,
  waitingWorkMigration,
  recordedIssuesMigration,
  lookingAtSessionsMigration,
  boundedReadsMigration,
  commitMarksMigration,
  sessionBranchesMigration,
  notesMigration,
  packsMigration,
  countedSessionsMigration,
  moduleVersionsMigration,
  refereeMigration,
  projectRequestsMigration,
  contextMigration,
  jobsMigration,
  afterSessionsMigration,
  agentSlotsMigration,
  briefSectionsMigration,
  devicesMigration,
  afterCareMigration,
  schedulesMigration,
  embeddingsMigration,
  turnParentsMigration,
  failedOnBaseMigration,
];
