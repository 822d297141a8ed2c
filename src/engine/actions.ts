/**
 * The closed list of what the engine does to the world or to the store; a loop adds its own. Each has one executor: look
 * whether it has already happened, else do it. Crash points are made from the list, so none can be forgotten.
 */
export const ENGINE_ACTIONS = [
  'start',
  'spawn',
  'dispatch',
  'claim',
  'prepare_worktree',
  'setup',
  'read_base',
  'run_agent',
  'record_run',
  'commit',
  'publish',
  'nudge',
  'verify',
  'replay',
  'second_opinion',
  'report',
  'land',
  'put_on_top',
  'adopt_branch',
  'settle',
  'prove',
  'retry',
  'requeue',
  'interrupt',
  'end',
  'close_worktree',
  'pack',
  'discard',
] as const;

export const CRASH_SIDES = ['before', 'after'] as const;
export type CrashPoint = `${string}:${(typeof CRASH_SIDES)[number]}`;

/** Of the engine's actions and of those that the loops bring. */
export function crashPoints(loops: readonly { actions?: readonly string[] }[]): CrashPoint[] {
  const actions = [...ENGINE_ACTIONS, ...loops.flatMap((loop) => loop.actions ?? [])];
  return actions.flatMap((action) => CRASH_SIDES.map((side) => `${action}:${side}` as const));
}

/** Told of every point passed. The crash suite kills here; a tracer may listen. */
export type Trace = (point: CrashPoint) => void | Promise<void>;
export const noTrace: Trace = () => undefined;

export interface Action<T> {
  /** What the action left behind, if it has already happened; `null` when it has to be performed. */
  recognise?: () => Promise<T | null>;
  perform: () => Promise<T>;
}

export async function act<T>(trace: Trace, name: string, { recognise, perform }: Action<T>): Promise<T> {
  await trace(`${name}:before`);
  const result = (await recognise?.()) ?? (await perform());
  await trace(`${name}:after`);
  return result;
}
