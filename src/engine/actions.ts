/**
 * The closed list of what the engine does to the world or to the store. Each has one executor: look whether it has
 * already happened, else do it. Crash points are made from this list, so none can be forgotten.
 */
export const ACTIONS = [
  'start',
  'hire',
  'open_pulse',
  'dispatch',
  'claim',
  'prepare_worktree',
  'setup',
  'run_agent',
  'record_run',
  'commit',
  'publish',
  'nudge',
  'verify',
  'baseline',
  'measure',
  'report',
  'advance_ref',
  'put_on_top',
  'adopt_branch',
  'land_pulse',
  'keep_wip',
  'give_up_pulse',
  'discard',
  'settle',
  'write_files',
  'deliver',
  'retry',
  'requeue',
  'interrupt',
  'abandon',
  'end',
  'merge',
  'review',
  'close_worktree',
  'pack',
] as const;
export type ActionName = (typeof ACTIONS)[number];

export const CRASH_SIDES = ['before', 'after'] as const;
export type CrashPoint = `${ActionName}:${(typeof CRASH_SIDES)[number]}`;
export const CRASH_POINTS: readonly CrashPoint[] = ACTIONS.flatMap((action) =>
  CRASH_SIDES.map((side) => `${action}:${side}` as const),
);

/** Told of every point passed. The crash suite kills here; a tracer may listen. */
export type Trace = (point: CrashPoint) => void | Promise<void>;
export const noTrace: Trace = () => undefined;

export interface Action<T> {
  /** What the action left behind, if it has already happened; `null` when it has to be performed. */
  recognise?: () => Promise<T | null>;
  perform: () => Promise<T>;
}

export async function act<T>(trace: Trace, name: ActionName, { recognise, perform }: Action<T>): Promise<T> {
  await trace(`${name}:before`);
  const result = (await recognise?.()) ?? (await perform());
  await trace(`${name}:after`);
  return result;
}
