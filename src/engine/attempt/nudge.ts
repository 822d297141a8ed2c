/**
 * A run that ended without a signal is asked for it, once, in the same iteration: one forgotten tag must not stop a
 * night's work. It is asked after its work was committed; its later changes to files are thrown away.
 */
import { fenced } from '../../context/fence.ts';
import type { AttemptResult, AttemptSpec, RunReport } from '../../domain/attempt.ts';
import { signalOfRun } from '../../domain/signals.ts';
import { appendEvents } from '../../store/events.ts';
import { holdsTask, saveResult } from '../../store/inbox.ts';
import { act } from '../actions.ts';
import type { Engine } from '../engine.ts';
import type { HeldAttempt, UnitCommit } from '../ports.ts';
import { addUsage, budgetTokens } from '../run/usage-meter.ts';
import { createAgentLog } from './agent-log.ts';

/** To say one word takes no longer. */
const NUDGE_MS = 5 * 60_000;
const NUDGE_TOOLS = ['pulse_signal', 'report_usage'];

export interface Nudge {
  result: AttemptResult;
  /** What the iteration's work became. */
  unit: UnitCommit;
  control: AbortController;
}

/** The commit of an attempt that had been asked when its process died: the worktree no longer shows it. */
export function unitOfNudged({ run, commit, tree, files, leftOut }: AttemptResult): UnitCommit | null {
  if (run?.nudge === undefined || tree === null) return null;
  return { commit, tree, files, ...(leftOut ? { leftOut } : {}) };
}

/**
 * The result, with what the agent said when it was asked. That it is asked is durable before it is: after a crash it is
 * not asked again, and has said nothing.
 */
export async function nudgeIfSilent(
  engine: Engine,
  attempt: HeldAttempt,
  nudge: Nudge,
): Promise<AttemptResult> {
  const { trace, workspace } = engine;
  const { result, unit } = nudge;
  if (!isSilent(engine, attempt, result)) return result;
  const after = await act(trace, 'nudge', {
    recognise: async () => (result.run?.nudge === undefined ? null : result),
    perform: () => ask(engine, attempt, nudge),
  });
  await workspace.restore(attempt, unit);
  return after;
}

/** Not where the loop asks for what it needs by tools of its own. */
function isSilent({ agents, loops }: Engine, { spec }: HeldAttempt, { run }: AttemptResult): boolean {
  if (!loops.works.of(spec).kind.asksForSignal || !run || run.failure || run.stopped) return false;
  if (run.nudge !== undefined) return true;
  if (signalOfRun(run).source !== 'default' || !agents.canBeAsked(spec.agent)) return false;
  const { usd, tokens, timeMs } = limitsLeft(spec.limits, run);
  return [usd, tokens, timeMs].every((left) => left === null || left > 0);
}

async function ask(
  { store, clock, bell, agents }: Engine,
  attempt: HeldAttempt,
  { result, unit, control }: Nudge,
): Promise<AttemptResult> {
  const { task, sessionId, iteration } = attempt;
  const scope = { session: sessionId };
  const run = result.run!;
  const begun: AttemptResult = { ...result, ...unit, run: { ...run, nudge: null } };
  await store.tx(
    'nudge',
    async (db) => {
      await saveResult(db, task, begun);
      await appendEvents(db, sessionId, [{ type: 'iteration.nudged', iteration }]);
    },
    scope,
  );
  using log = createAgentLog({
    ...{ store, clock, task },
    onWritten: () => bell.ring(sessionId),
    onFenced: (error) => control.abort(error),
  });
  const asked = await agents.run(nudgedAttempt(attempt, run), log, control.signal);
  await log.close();
  const answered: AttemptResult = { ...begun, run: withAnswer(run, asked) };
  return store.tx(
    'nudge',
    async (db) => {
      const isOurs = await holdsTask(db, task);
      await log.finish(db, { onlySpending: !isOurs });
      if (!isOurs || control.signal.aborted) return begun;
      await saveResult(db, task, answered);
      return answered;
    },
    scope,
  );
}

function withAnswer(run: RunReport, asked: RunReport): RunReport {
  const { finalMessage, toolSignal } = asked;
  return {
    ...run,
    nudge: asked.failure ? null : { finalMessage, toolSignal },
    usage: addUsage(run.usage, asked.usage),
    durationMs: run.durationMs + asked.durationMs,
  };
}

/** In the agent's own session where it can go on with one; else a short run in the same worktree. */
function nudgedAttempt(attempt: HeldAttempt, run: RunReport): HeldAttempt {
  const { task, spec, runId } = attempt;
  const resume = run.agentSessionId ?? null;
  const earlier = spec.resumeUsage ? addUsage(spec.resumeUsage, run.usage) : run.usage;
  return {
    ...attempt,
    runId: `${runId}.nudge`,
    task: { ...task, task_content: nudgeBrief(run.finalMessage) },
    spec: {
      ...spec,
      resume,
      resumeUsage: resume === null ? null : earlier,
      tools: spec.tools.filter((name) => NUDGE_TOOLS.includes(name)),
      limits: limitsLeft(spec.limits, run),
    },
  };
}

function limitsLeft(
  { hardMs, idleMs, usd, tokens, timeMs }: AttemptSpec['limits'],
  { usage, durationMs }: RunReport,
): AttemptSpec['limits'] {
  return {
    hardMs: Math.min(hardMs, NUDGE_MS),
    idleMs,
    usd: usd === null ? null : usd - (usage.costUsd ?? 0),
    tokens: tokens === null ? null : tokens - budgetTokens(usage),
    timeMs: timeMs === null ? null : timeMs - durationMs,
  };
}

const LAST_WORDS = 4_000;

function nudgeBrief(said: string): string {
  const last =
    said.trim() === '' ? '' : `\n\nThis is what you said last:\n\n${fenced(said.slice(-LAST_WORDS))}`;
  return `Your run is over, and its work is kept, but it ended without a signal, so nobody knows whether the work is done. Change nothing now and run nothing: your changes are thrown away. Only give the signal, with exactly one of these lines:

<signal>CONTINUE</signal> if there is more to do,
<signal>COMPLETE</signal> if the goal is reached,
<signal>BLOCKED: reason</signal> if only a person can help, with the question as the reason.${last}
`;
}
