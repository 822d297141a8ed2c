/** Which lines of a strategy the experiments took up, kept up to date: nothing is read twice, however long a session is. */

import type { Store } from '../../../store/store.ts';
import { listDescriptionsAfter } from '../rows.ts';
import { type TriedStrategy, triedStrategies } from './strategy.ts';

/** Of each line: a brief must not grow with the session. */
const TRIES_SHOWN = 10;
/** A process may see many sessions; of one that is forgotten the rows are read again. */
const SESSIONS_REMEMBERED = 100;

interface Marks {
  /** All experiments up to this one are decided and marked. */
  upTo: number;
  tried: TriedStrategy[];
}

export interface StrategyMarks {
  /** The strategy of a session never changes. */
  of(sessionId: string, strategy: readonly string[]): Promise<TriedStrategy[]>;
}

export function createStrategyMarks(store: Store): StrategyMarks {
  const remembered = new Map<string, Marks>();
  return {
    async of(sessionId, strategy) {
      if (strategy.length === 0) return [];
      const marks = remembered.get(sessionId) ?? { upTo: 0, tried: triedStrategies(strategy, []) };
      const rows = await store.read((db) => listDescriptionsAfter(db, sessionId, marks.upTo));
      const firstOpen = rows.findIndex(({ status }) => status === 'running');
      const sure = firstOpen < 0 ? rows : rows.slice(0, firstOpen);
      const later = rows.slice(sure.length).filter(({ status }) => status !== 'running');
      const known = { upTo: sure.at(-1)?.number ?? marks.upTo, tried: withTries(marks.tried, sure) };
      remembered.delete(sessionId);
      remembered.set(sessionId, known);
      if (remembered.size > SESSIONS_REMEMBERED) remembered.delete(remembered.keys().next().value!);
      return withTries(known.tried, later);
    },
  };
}

function withTries(
  tried: readonly TriedStrategy[],
  rows: readonly { number: number; description: string }[],
): TriedStrategy[] {
  const described = rows.map(({ number, description }) => ({ iteration: number, description }));
  const more = triedStrategies(
    tried.map(({ text }) => text),
    described,
  );
  return tried.map(({ text, iterations }, index) => ({
    text,
    iterations: [...iterations, ...more[index]!.iterations].slice(-TRIES_SHOWN),
  }));
}
