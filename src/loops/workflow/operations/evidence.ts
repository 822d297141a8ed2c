/** What the evidence of a workflow is, and when it still holds: its checks may fail, as long as they show nothing new. */

import type { Git } from '../../../git/exec.ts';
import { pathText, splitNul } from '../../../git/path-bytes.ts';
import { isInDoubt } from '../../../referee/output/compare.ts';
import type { CommandOutput } from '../../../referee/output/parse.ts';
import { renderNewIssues } from '../../../referee/output/report.ts';
import type { Session } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
import type { StoredVerification } from '../../../store/verifications.ts';
import { listBaseline } from '../baseline-rows.ts';
import { compareRuns } from '../checks/check-issues.ts';
import { checksFor } from '../checks/pulse-checks.ts';
import type { BaselineIssue, Check } from '../model.ts';
import { findPreflight, findWorkflow } from '../rows.ts';
import type { Unresolved } from '../unresolved.ts';
import { listUnresolved } from '../unresolved-rows.ts';

export interface WorkflowEvidence {
  /** The newest record of each check that the plan has now and that was ever asked. */
  records: StoredVerification[];
  checks: Check[];
  baseline: BaselineIssue[];
  /** What preflight ran. */
  setup: string[];
  /** What its pulses were accepted with: the baseline holds that too. */
  unresolved: Unresolved[];
}

/** `null` where the session is no workflow. */
export async function workflowEvidence(
  db: Db,
  session: Session,
  records: readonly StoredVerification[],
): Promise<WorkflowEvidence | null> {
  const workflow = await findWorkflow(db, session.id);
  if (!workflow) return null;
  const { checks } = workflow;
  const newest = new Map(records.map((record) => [record.command, record]));
  const preflight = await findPreflight(db, workflow.id);
  return {
    records: checks.flatMap(({ command }) => newest.get(command) ?? []),
    checks,
    baseline: await listBaseline(db, workflow.id),
    setup: preflight?.setup_commands ?? [],
    unresolved: (await listUnresolved(db, [session.id])).get(session.id) ?? [],
  };
}

/** What a check shows beyond the baseline, in words; nothing: it is content. Asked again when in doubt, as in a pulse. */
export async function newsOf(
  { baseline }: WorkflowEvidence,
  first: CommandOutput,
  ask: () => Promise<CommandOutput>,
): Promise<string | null> {
  const once = compareRuns(baseline, [first]);
  const compared = isInDoubt(once) ? compareRuns(baseline, [first, await ask()]) : once;
  return compared.passes ? null : renderNewIssues(compared, { maxLines: NEWS_LINES });
}

const NEWS_LINES = 15;

/** A check with a scope was not asked by pulses that changed nothing in it: for it, the tree is the same. */
export async function isSameFor(
  git: Git,
  { root, check, from, to }: { root: string; check: Check; from: string; to: string },
): Promise<boolean> {
  if (from === to) return true;
  if (check.scope === undefined) return false;
  const diff = await git.attempt(['diff-tree', '-r', '-z', '--no-renames', '--name-only', from, to], {
    cwd: root,
  });
  // The older tree may be gone by now.
  return diff.code === 0 && checksFor([check], splitNul(diff.stdout).map(pathText)).length === 0;
}
