import type { AttemptSpec } from '../../domain/attempt.ts';
import { CONTEXT_TOOLS, hasContextTools, isSearching, strategyOf } from '../../domain/context-words.ts';
import type { IdSource } from '../../domain/ids.ts';
import { newIterationId, newTaskId } from '../../domain/ids.ts';
import { DEFAULT_REFEREE } from '../../domain/judgement.ts';
import { recoveryRef } from '../../git/refs.ts';
import { appendEvents } from '../../store/events.ts';
import { insertTask } from '../../store/inbox.ts';
import { insertIteration } from '../../store/iterations.ts';
import { quoteNotes } from '../../store/notes.ts';
import { assertStatus, type Session, type SessionSettings, updateSession } from '../../store/sessions.ts';
import { type Db, toJson } from '../../store/store.ts';
import { WORK_TOOLS } from '../../tools/work/work-tools.ts';
import type { SessionState } from '../loop.ts';
import type { ComposedBrief } from '../ports.ts';
import type { PlannedRun } from '../work.ts';
import { runLimits } from './budget.ts';

export interface Dispatch {
  state: SessionState;
  run: PlannedRun;
  token: number;
  ids: IdSource;
}

export type AttemptPart = Partial<
  Pick<
    AttemptSpec,
    'role' | 'tools' | 'work' | 'verifyOn' | 'setup' | 'preparedIn' | 'resume' | 'resumeUsage' | 'limits'
  >
>;

/** The iteration's row and its attempt, in one transaction. */
export async function dispatchIteration(db: Db, dispatch: Dispatch): Promise<void> {
  const { state, token, ids } = dispatch;
  const { unit, brief, part, moreTools = [], events = [], recoversLast = false } = dispatch.run;
  const { session, control } = state;
  await assertStatus(db, session);
  const iteration = session.current_iteration + 1;
  const taskId = newTaskId(ids);
  const startSha = dispatch.run.startSha ?? headSha(state);
  const sliceId = brief.sliceId ?? null;
  const plan = { unit, ...briefFacts(brief) };
  const standard = attemptSpec(state, { unit, startSha, recoverTo: leftoversRef(state, recoversLast) });
  const own = { ...standard, tools: [...standard.tools, ...moreTools], ...part };
  const spec = { ...own, tools: withContextTools(own, control.settings), wholeBrief: brief.whole };
  await appendEvents(
    db,
    session.id,
    [
      ...events.map((event) => ({ ...event, iteration })),
      { type: 'iteration.planned', iteration, data: plan },
      { type: 'iteration.dispatched', iteration, data: { taskId, attempt: 1, agent: session.agent } },
    ],
    { token },
  );
  await insertIteration(db, {
    id: newIterationId(ids),
    session_id: session.id,
    iteration_number: iteration,
    unit,
    attempt: 1,
    inbox_task_id: taskId,
    ...briefColumns(brief),
    status: 'dispatched',
    signal: null,
    signal_source: null,
    signal_rule: null,
    output_summary: null,
    output_full: null,
    commit_hash: null,
    anchor_hint_next: null,
    start_sha: startSha,
    tree_hash: null,
    cost_usd: null,
    input_tokens: 0,
    output_tokens: 0,
    cache_tokens: 0,
    failure_class: null,
    outcome: null,
    started_at: null,
    ended_at: null,
  });
  await insertTask(db, {
    id: taskId,
    content: brief.text,
    spec,
    attempt: 1,
    labels: control.settings.labels,
    context: {
      pulseSessionId: session.id,
      iterationNumber: iteration,
      projectId: control.project_id,
      branchName: session.branch_name,
      sliceId,
    },
  });
  await quoteNotes(db, brief.notes ?? [], iteration);
  await updateSession(db, session.id, { current_iteration: iteration });
}

/** What an iteration's row has of its brief. */
export function briefColumns({ text, tokens, sections, anchor, sliceId }: ComposedBrief) {
  return {
    task_content: text,
    context_tokens: tokens,
    sections: sections ? toJson(sections) : null,
    anchor_turn_id: anchor.turnId,
    anchor_strategy: anchor.strategy,
    anchor_resolution_ms: anchor.resolutionMs,
    salience: anchor.salience,
    depth: anchor.depth,
    slice_id: sliceId ?? null,
  };
}

/** What is told of a brief when an iteration is planned, and when it gets another. */
export function briefFacts({ anchor, sections }: ComposedBrief) {
  return {
    anchorStrategy: anchor.strategy,
    anchorTurnId: anchor.turnId,
    ...(sections ? { sections } : {}),
    invalidHints: anchor.invalid,
  };
}

/** Where the next attempt starts: the last commit that landed on the session's branch, or its base. */
export function headSha({ session, control }: SessionState): string {
  return control.head_sha ?? session.base_sha;
}

/** What lies in the worktree beside the last commit is kept and cleared before the next iteration: a failed one made none. */
function leftoversRef({ session, recent }: SessionState, recoversLast: boolean): string | null {
  const last = recent[0];
  if (!last || (last.status !== 'failed' && !recoversLast)) return null;
  return recoveryRef(session.id, last.iteration_number, last.attempt);
}

export function attemptSpec(
  { session, control }: SessionState,
  { unit, startSha, recoverTo }: { unit: string | null; startSha: string; recoverTo: string | null },
): AttemptSpec {
  return {
    projectPath: session.project_path,
    remote: control.settings.remote,
    projectKey: control.project_id,
    worktreePath: session.worktree_path,
    startSha,
    branch: session.branch_name,
    agent: session.agent,
    command: session.command,
    model: control.settings.model ?? null,
    prices: control.settings.prices ?? {},
    unit,
    verifyOn: 'complete',
    verify: session.verify,
    setup: session.setup,
    referee: control.settings.referee ?? DEFAULT_REFEREE,
    baseSha: session.base_sha,
    window: control.window_from,
    role: 'worker',
    tools: ['pulse_signal', 'report_usage', ...(session.agent === 'native' ? NATIVE_TOOLS : [])],
    identity: control.settings.identity,
    recoverTo,
    environmentPass: control.settings.environmentPass,
    needs: control.settings.needs,
    ownMcp: control.settings.ownMcp,
    record: control.settings.record,
    sandbox: control.settings.sandbox ?? null,
    limits: runLimits(session),
  };
}

/** An attempt that was dispatched before the session's settings changed, as it would be dispatched now. */
export function specNow(
  spec: AttemptSpec,
  { session, settings }: { session: Session; settings: SessionSettings },
): AttemptSpec {
  const { agent, command } = session;
  const isOther = agent !== spec.agent || command !== spec.command;
  const others = spec.tools.filter((name) => !(WORK_TOOLS as readonly string[]).includes(name));
  const isNative = spec.agent === 'native' || agent === 'native';
  const isNativeNow = isOther && isNative;
  const tools = isNativeNow ? (agent === 'native' ? [...others, ...NATIVE_TOOLS] : others) : spec.tools;
  return {
    ...spec,
    agent,
    command,
    model: settings.model ?? null,
    prices: settings.prices ?? {},
    ...(spec.verifyOn === 'complete' ? { verify: session.verify, setup: session.setup } : {}),
    ...(settings.referee ? { referee: settings.referee } : {}),
    environmentPass: settings.environmentPass,
    needs: settings.needs,
    ownMcp: settings.ownMcp,
    sandbox: settings.sandbox ?? null,
    limits: runLimits(session),
    // Another agent knows nothing of the session that this one was to go on with.
    ...(isOther ? { resume: null, resumeUsage: null } : {}),
    tools: withContextTools({ role: spec.role, tools }, settings),
  };
}

/** Whether it may search by meaning, an ordinary run is told by its strategy. */
const NATIVE_TOOLS = WORK_TOOLS.filter((name) => name !== 'semantic_search');

/** Only with `mcp` and `hybrid` does a run have the tools of its context; one without any tool gets none. */
function withContextTools(
  { role, tools }: Pick<AttemptSpec, 'role' | 'tools'>,
  { contextStrategy }: SessionSettings,
): string[] {
  const searches = isSearching(role) && tools.includes('semantic_search');
  const others = tools.filter((name) => !(CONTEXT_TOOLS as readonly string[]).includes(name));
  if (tools.length > 0 && hasContextTools(strategyOf(role, contextStrategy)))
    return [...others, ...CONTEXT_TOOLS];
  return searches ? [...others, 'semantic_search'] : others;
}
