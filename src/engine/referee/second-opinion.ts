/**
 * Another agent judges a claim that the commands have passed (docs/protocol/referee.md, Second opinion). It reads in the
 * session's room. Its verdict is stored in the transaction that books what it cost, so it is never asked twice.
 */
import { createHash } from 'node:crypto';
import { isServiceFailure } from '../../domain/failures.ts';
import type { Opinion, Reviewer } from '../../domain/judgement.ts';
import {
  decideOpinion,
  REVIEW_TOOLS,
  reviewBrief,
  reviewVerdictTool,
  withoutOpinion,
} from '../../referee/opinion.ts';
import { findCheckRun, insertCheckRun } from '../../store/check-runs.ts';
import { appendEvents } from '../../store/events.ts';
import { fencedTask, holdsTask } from '../../store/inbox.ts';
import { findSession, type Session } from '../../store/sessions.ts';
import { type AgentLog, createAgentLog } from '../attempt/agent-log.ts';
import type { AgentHost, ExaminedClaim, HeldAttempt } from '../ports.ts';
import { runLimits } from '../runner/budget.ts';
import type { Clock } from '../wake/clock.ts';
import type { RunProtocol, WorkKind } from '../work.ts';
import { type Bench, type RefereeMeans, runSetup } from './bench.ts';

/** What a second opinion needs beyond a bench. */
export interface OpinionMeans {
  store: RefereeMeans['store'];
  clock: Clock;
  agents: AgentHost;
}

/** The name of the work in its attempt's data; no loop dispatches it. */
const KIND = 'second_opinion';
/** To read a change takes no longer. */
const REVIEW_MS = 20 * 60_000;
const DELAYS_MS = [2_000, 5_000, 15_000, 40_000];

export async function askSecondOpinion(
  means: OpinionMeans,
  bench: Bench,
  { examined, reviewer }: { examined: ExaminedClaim; reviewer: Reviewer },
): Promise<ExaminedClaim> {
  const { attempt, signal } = bench;
  const { judgement } = examined;
  const session = await means.store.read((db) => findSession(db, attempt.sessionId));
  if (!session) return examined;
  const key = opinionKey({ session, bench, examined, reviewer });
  const known = await means.store.read((db) => findCheckRun<Opinion>(db, attempt.sessionId, key));
  if (known) return { ...examined, judgement: decideOpinion(judgement, known) };
  const { setupFailure } = await bench.room.enter(examined.claim, {
    runSetup: (commands) => runSetup(bench, commands),
  });
  if (setupFailure) return examined;
  const brief = await briefFor(bench, { session, examined });
  let why = '';
  for (const delayMs of [0, ...DELAYS_MS]) {
    await means.clock.sleep(delayMs, signal);
    if (signal.aborted) return examined;
    const asked = await ask(means, bench, { session, reviewer, brief, key });
    if ('opinion' in asked) return { ...examined, judgement: decideOpinion(judgement, asked.opinion) };
    why = asked.why;
    if (!asked.mayPass) break;
  }
  return { ...examined, judgement: withoutOpinion(judgement, reviewer, why) };
}

type Asked = { opinion: Opinion } | { why: string; mayPass: boolean };

interface Question {
  session: Session;
  reviewer: Reviewer;
  brief: string;
  key: string;
}

async function ask({ store, clock, agents }: OpinionMeans, bench: Bench, question: Question): Promise<Asked> {
  const { attempt, signal } = bench;
  const { task, sessionId, iteration } = attempt;
  const { agent, model } = question.reviewer;
  attempt.enter?.('review');
  const over = new AbortController();
  using log = createAgentLog({
    ...{ store, clock, task },
    onWritten: () => undefined,
    onFenced: (error) => over.abort(error),
  });
  const stop = AbortSignal.any([signal, over.signal]);
  const run = await agents.run(reviewerAttempt(bench, question), spendingOnly(log), stop);
  await log.close();
  const verdict = (run.own ?? null) as Omit<Opinion, 'agent' | 'model'> | null;
  const opinion = verdict && !run.failure ? { agent, model: run.model ?? model, ...verdict } : null;
  await store.tx(
    'second_opinion',
    async (db) => {
      const isOurs = await holdsTask(db, task);
      await log.finish(db, { onlySpending: true });
      if (!isOurs) throw fencedTask(task.id);
      if (opinion === null || signal.aborted) return;
      await insertCheckRun(db, { sessionId, key: question.key, run: opinion });
      const { accept, reasons } = opinion;
      await appendEvents(db, sessionId, [
        { type: 'iteration.reviewed', iteration, data: { agent, model: opinion.model, accept, reasons } },
      ]);
    },
    { session: sessionId },
  );
  if (opinion) return { opinion };
  const { failure } = run;
  if (failure) return { why: failure.message, mayPass: isServiceFailure(failure.class) };
  const why = run.stopped ? 'the budget of the session was used up.' : 'it ended without review_verdict.';
  return { why, mayPass: false };
}

/** What the reviewer says while it reads is not the agent's: only what it spends is recorded. */
function spendingOnly(log: AgentLog): AgentLog {
  return { ...log, event: () => undefined, takeNotes: async () => [] };
}

function reviewerAttempt(bench: Bench, { session, reviewer, brief }: Question): HeldAttempt {
  const { attempt, room, shown } = bench;
  const { task, spec, runId } = attempt;
  const limits = runLimits(session);
  return {
    ...attempt,
    runId: `${runId}.review`,
    room: { ...shown, isReadOnly: true },
    task: { ...task, task_content: brief },
    spec: {
      ...spec,
      ...{ agent: reviewer.agent, model: reviewer.model, command: reviewer.command },
      ...{ resume: null, resumeUsage: null, unit: null, role: 'reviewer', record: false },
      worktreePath: room.folders.tree,
      tools: REVIEW_TOOLS,
      work: { kind: KIND },
      limits: { ...limits, hardMs: Math.min(limits.hardMs, REVIEW_MS) },
    },
  };
}

async function briefFor(
  { attempt, placed, room, base, redact }: Bench,
  { session, examined }: { session: Session; examined: ExaminedClaim },
): Promise<string> {
  const { claim, records, heldOut = [], judgement } = examined;
  const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', base.tree, claim.tree];
  const diff = await placed.text(args, { cwd: room.folders.tree });
  return reviewBrief({
    goal: session.goal,
    task: attempt.spec.unit === null ? null : attempt.task.task_content,
    diff: redact(diff),
    records: [...records, ...heldOut],
    judgement,
  });
}

function opinionKey({
  session,
  bench,
  examined: { claim },
  reviewer,
}: {
  session: Session;
  bench: Bench;
  examined: ExaminedClaim;
  reviewer: Reviewer;
}): string {
  const { agent, model, command } = reviewer;
  const parts = [claim.tree, bench.base.tree, claim.declared, session.goal, agent, model, command];
  return `opinion ${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}

/** Part of another's attempt: it is never dispatched. */
export const secondOpinionWork: WorkKind = {
  kind: KIND,
  read: (stored) => stored,
  plan: () => Promise.reject(new TypeError('a second opinion is never dispatched')),
  composeRetryBrief: () => Promise.reject(new TypeError('a second opinion is never dispatched')),
  keepsNothing: true,
  protocol(): RunProtocol {
    let verdict: Omit<Opinion, 'agent' | 'model'> | null = null;
    return {
      tools: [
        reviewVerdictTool((given) => {
          verdict = given;
        }),
      ],
      report: () => ({ own: verdict }),
    };
  },
};
