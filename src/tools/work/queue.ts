/** Work that must not overlap, in the order in which it came. */
export interface Queue {
  /** Resolves or rejects as the work does; a failure does not hold up what comes after. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when all that has come so far is over. */
  settled(): Promise<void>;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    inTurn(work) {
      const turn = last.then(work);
      last = turn.catch(() => undefined);
      return turn;
    },
    async settled() {
      await last;
    },
  };
}
