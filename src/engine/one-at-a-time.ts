import type { Engine } from './engine.ts';

const queues = new WeakMap<Engine, Map<string, Promise<unknown>>>();

/** Runs `work` once everything that this engine was asked to do under the same key before has ended. */
export function oneAtATime<T>(engine: Engine, key: string, work: () => Promise<T>): Promise<T> {
  const last = queues.get(engine) ?? new Map<string, Promise<unknown>>();
  queues.set(engine, last);
  const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
  last.set(key, turn);
  const forget = (): void => void (last.get(key) === turn && last.delete(key));
  turn.then(forget, forget);
  return turn;
}
