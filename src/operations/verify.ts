/** `pulse verify`: is what the evidence says still so? Runs the commands again, in a room of its own. */
import { join } from 'node:path';
import type { VerificationRecord } from '../domain/attempt.ts';
import { type Trust, trustOf } from '../domain/check-words.ts';
import { PulseError } from '../domain/errors.ts';
import { openSessionRoom } from '../engine/referee/session-room.ts';
import { openWorktreePorts } from '../engine/workspace/worktree-ports.ts';
import { isSameFor, newsOf, workflowEvidence } from '../loops/workflow/operations/evidence.ts';
import type { Unresolved } from '../loops/workflow/unresolved.ts';
import { agentEnvironment } from '../process/environment.ts';
import { getControl, getSession, type Session } from '../store/sessions.ts';
import { listVerifications, type StoredVerification } from '../store/verifications.ts';
import type { Operations } from './context.ts';
import { visitRoom } from './verification-room.ts';

/**
 * `fresh`: same tree, same result. `stale`: the branch has moved on. `false`: same tree, another result. Of a workflow's
 * check: it passes as long as it shows nothing beyond the baseline.
 */
export type Verdict = 'fresh' | 'stale' | 'false';

export interface CheckedEvidence {
  command: string;
  verdict: Verdict;
  recorded: StoredVerification;
  again: VerificationRecord;
  /** Of a workflow's check: what lies beyond the baseline. */
  news?: string | null;
}

export interface VerifyReport {
  session: Session;
  commit: string;
  tree: string;
  verdict: Verdict;
  /** How far the result can be relied on after this; `null`: nothing was claimed yet. */
  trust: Trust | null;
  checks: CheckedEvidence[];
  /** What a workflow's pulses were accepted with although it was not resolved. */
  unresolved: Unresolved[];
}

/** Throws `not_found` when the session has no evidence to check. The session and its worktree are not touched. */
export async function verifySession(
  operations: Operations,
  id: string,
  signal?: AbortSignal,
): Promise<VerifyReport> {
  const { engine, git, environment, redactor, sandboxes, home } = operations;
  const { session, control, records, flow } = await engine.store.read(async (db) => {
    const found = await getSession(db, id);
    const all = await listVerifications(db, found.id);
    return {
      session: found,
      control: await getControl(db, found.id),
      records: all,
      flow: await workflowEvidence(db, found, all),
    };
  });
  const evidence = flow?.records ?? newestEvidence(records);
  if (evidence.length === 0) {
    throw new PulseError('not_found', `Session ${session.id} has no verification to check.`, {
      hint: flow
        ? 'No pulse of it has been judged by a check yet.'
        : session.verify.length === 0
          ? 'It was started without --verify, so its completion is unverified.'
          : 'Its verification has not run yet: that happens when the agent says COMPLETE.',
    });
  }
  const root = session.project_path;
  const commit = await engine.workspace.branchHead(session);
  if (!commit) {
    throw new PulseError('not_found', `The branch ${session.branch_name} no longer exists.`, {
      hint: `Its last commit was ${evidence[0]?.commit ?? session.base_sha}; git branch can bring it back.`,
    });
  }
  const path = join(home.rooms, `ses_verify-${session.id}-${process.pid}`);
  const spec = { ...control.settings, projectPath: root, worktreePath: session.worktree_path, command: null };
  const setup = flow?.setup ?? session.setup;
  const { room, shown } = await openSessionRoom({ git, sandboxes }, { path, spec, setup, signal });
  const env = agentEnvironment({
    base: environment,
    own: [],
    pass: control.settings.environmentPass,
    add: await openWorktreePorts(home.ports).of(room.folders.tree, spec.needs?.ports ?? []),
  });
  const sandbox = await sandboxes.plan({ spec, room: shown });
  const runId = `verify.${session.id}.${process.pid}`;
  const run = { env, base: environment, sandbox, runId, signal, redactor };
  return visitRoom({ git, root, room, commit, checks: run }, async (visitor) => {
    const { cwd, tree, run: ask } = visitor;
    const checks: CheckedEvidence[] = [];
    for (const recorded of evidence) {
      const { record, output } = await ask(recorded.command);
      if (!flow) {
        checks.push(check(recorded, record));
        continue;
      }
      const asked = flow.checks.find(({ command }) => command === recorded.command)!;
      const seen = { command: asked.command, source: asked.source, root: cwd };
      const news = await newsOf(flow, { ...seen, output, exit: record.exit }, async () => {
        const second = await ask(asked.command);
        return { ...seen, output: second.output, exit: second.record.exit };
      });
      const isSame = await isSameFor(visitor.git, { root: cwd, check: asked, from: recorded.tree, to: tree });
      const verdict = isSame ? (news === null ? 'fresh' : 'false') : 'stale';
      checks.push({ command: asked.command, verdict, recorded, again: record, news });
    }
    const unresolved = flow?.unresolved ?? [];
    const verdict = worst(checks);
    const trust = verdict === 'fresh' ? trustOf(session) : verdict;
    return { session, commit, tree, verdict, trust, checks, unresolved };
  });
}

function check(recorded: StoredVerification, again: VerificationRecord): CheckedEvidence {
  const isSameTree = recorded.tree === again.tree;
  // Its output may tell the time of day, so that is not compared.
  const isSameResult = recorded.passed === again.passed && recorded.exit === again.exit;
  const verdict = isSameTree ? (isSameResult ? 'fresh' : 'false') : 'stale';
  return { command: recorded.command, verdict, recorded, again };
}

function worst(checks: readonly CheckedEvidence[]): Verdict {
  if (checks.some(({ verdict }) => verdict === 'false')) return 'false';
  return checks.some(({ verdict }) => verdict === 'stale') ? 'stale' : 'fresh';
}

/** The records of the last attempt that was verified. */
function newestEvidence(records: readonly StoredVerification[]): StoredVerification[] {
  const last = records.at(-1);
  if (!last) return [];
  return records.filter(({ iteration, attempt }) => iteration === last.iteration && attempt === last.attempt);
}
