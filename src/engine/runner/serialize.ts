const queues = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Runs `work` once everything that was asked of the same owner under the same key before has ended. */
export function oneAtATime<T>(owner: object, key: string, work: () => Promise<T>): Promise<T> {
  const last = queues.get(owner) ?? new Map<string, Promise<unknown>>();
  queues.set(owner, last);
  const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
  last.set(key, turn);
  const forget = (): void => void (last.get(key) === turn && last.delete(key));
  turn.then(forget, forget);
  return turn;
}
