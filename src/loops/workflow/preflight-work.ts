/** Preflight: the worktree is set up and checked before the first pulse, by Pulse itself or by an agent. */

import type { VerificationRecord } from '../../domain/attempt.ts';
import { type IdSource, uuidv7 } from '../../domain/ids.ts';
import { act } from '../../engine/actions.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ComposedBrief } from '../../engine/ports.ts';
import { runLimits } from '../../engine/runner/budget.ts';
import { plainBrief } from '../../engine/runner/plain-brief.ts';
import type { AttemptCourse, AttemptEnd, PlannedRun, WorkKind, WorkRequest } from '../../engine/work.ts';
import type { Store } from '../../store/store.ts';
import { countedBrief } from '../shared/brief-tools.ts';
import { preflightBrief } from './kickoff-text.ts';
import { PREFLIGHT_UNIT, setupCommands } from './model.ts';
import { preflightProgress } from './preflight-progress.ts';
import { createPreflightProtocol } from './preflight-protocol.ts';
import { tooLong, withAgents } from './preflight-report.ts';
import type { PulseWorktree } from './pulse-worktree.ts';
import { insertPreflight } from './rows.ts';
import { PLAN_UNIT, type WorkflowState } from './state.ts';
import { type PreflightWork, preflightWorkSchema, readRun } from './work-data.ts';

const PREFLIGHT_LIMIT_MS = 15 * 60 * 1000;
const PREFLIGHT_TOOLS = ['shell', 'record_baseline', 'preflight_done', 'report_usage'];

export interface PreflightWorkOptions {
  worktree: PulseWorktree;
  store: Store;
  ids: IdSource;
  limitMs?: number;
}

export function createPreflightWork({
  worktree,
  store,
  ids,
  limitMs = PREFLIGHT_LIMIT_MS,
}: PreflightWorkOptions): WorkKind<PreflightWork> {
  return {
    kind: 'preflight',
    read: (stored) => preflightWorkSchema.parse(stored),
    plan: (engine, request) => planPreflight(engine, request, limitMs),
    composeRetryBrief: (_, { live, work }) => briefOf(live.task.task_content, work),
    git: ({ artifacts }) => ({
      keepOut: artifacts,
      beginsClean: true,
      // What setup made there before a preflight was interrupted goes with the rest.
      forgetsSetup: artifacts.length === 0,
    }),
    runsWithoutAgent: ({ isByAgent }) => !isByAgent,
    protocol: (run) => createPreflightProtocol({ ...run, store, ids }),
    execute: (course) => executePreflight(course, worktree),
  };
}

/** What no agent is told has no tokens. Its tools are few, and none of them looks things up. */
async function briefOf(
  text: string,
  { isByAgent }: Pick<PreflightWork, 'isByAgent'>,
): Promise<ComposedBrief> {
  return isByAgent ? countedBrief({ text, strategy: 'none' }) : plainBrief(text);
}

async function planPreflight(
  { ids }: Engine,
  { state }: WorkRequest<WorkflowState>,
  limitMs: number,
): Promise<PlannedRun> {
  const { session, own } = state;
  const { id, setup_steps: steps, checks, artifacts } = own.workflow;
  const isByAgent = steps === null;
  const limits = runLimits(session);
  const setup = steps ? setupCommands(steps) : [];
  const text = isByAgent
    ? preflightBrief(checks.map(({ command }) => command))
    : 'Preflight: set up the worktree and record what is there before the first pulse.';
  return {
    unit: PREFLIGHT_UNIT,
    brief: await briefOf(text, { isByAgent }),
    recoversLast: state.recent[0]?.unit === PLAN_UNIT,
    part: {
      role: 'preflight',
      tools: isByAgent ? PREFLIGHT_TOOLS : [],
      verifyOn: 'never',
      setup,
      work: { kind: 'preflight', isByAgent, checks, limitMs, artifacts } satisfies PreflightWork,
      limits: { ...limits, hardMs: Math.min(limits.hardMs, limitMs) },
    },
    events: [{ type: 'preflight.started', data: { setup } }],
    write: (db) => insertPreflight(db, { id: `pre_${uuidv7(ids)}`, workflowId: id, channelId: session.id }),
  };
}

/** The room that later claims are judged in: what preflight has made is there, and no pulse has been at it yet. */
async function readBaseOfChecks(
  { engine, attempt, work }: AttemptCourse<PreflightWork>,
  signal: AbortSignal,
): Promise<VerificationRecord | null> {
  const commands = work.checks.map(({ command }) => command);
  const source = attempt.spec.worktreePath;
  return act(engine.trace, 'read_base', {
    perform: () => engine.referee.readBase(attempt, { source, commands, signal }),
  });
}

/** Where the held-out files are not there, no pulse can be judged. */
function orBroken<T extends { error: string | null }>(found: T, broken: VerificationRecord | null): T {
  return broken?.isHeldOut
    ? { ...found, error: broken.outputTail || `${broken.command} cannot be run` }
    : found;
}

/** By an agent or by Pulse itself; it makes no commit: what it found is its result. */
async function executePreflight(
  course: AttemptCourse<PreflightWork>,
  worktree: PulseWorktree,
): Promise<AttemptEnd> {
  const { engine, attempt, work, signal } = course;
  const { limitMs, isByAgent } = work;
  // Of all of it: setup, an agent (which has it as its own limit too) and the checks.
  const limit = AbortSignal.timeout(limitMs);
  const limited = AbortSignal.any([signal, limit]);
  const progress = preflightProgress(engine, attempt);
  let result = course.recorded;
  if (!result) {
    const setupFailure = await course.setUp({ signal: limited, onCommand: progress('setup') });
    const run = isByAgent && !setupFailure ? await course.runAgent() : null;
    if (signal.aborted) return 'interrupted';
    result = run ?? course.emptyResult(setupFailure);
  }
  const isReady = !result.setupFailure && !result.run?.failure;
  const found = isReady
    ? await act(engine.trace, 'baseline', {
        perform: () =>
          worktree.baseline(attempt, { checks: work.checks, onCommand: progress('check') }, limited),
      })
    : null;
  if (signal.aborted) return 'interrupted';
  if (!found) return course.report(result);
  const isJudged = work.checks.length > 0 || attempt.spec.referee?.heldOut !== undefined;
  const broken = found.error === null && isJudged ? await readBaseOfChecks(course, limited) : null;
  if (signal.aborted) return 'interrupted';
  const seen = limit.aborted ? { ...found, error: tooLong(limitMs) } : orBroken(found, broken);
  return course.report({ ...result, own: result.run ? withAgents(seen, readRun(result)) : seen });
}
