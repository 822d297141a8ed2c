/** What the board shows beside the overview: today's spending and counts of experiments, read only when they may have changed. */
import { ATTENTION_GROUPS } from '../../domain/attention.ts';
import type { Overview } from '../../operations/overview.ts';
import type { Pulse } from '../../pulse.ts';

export interface BoardFigures {
  /** Since midnight, by this machine's clock; `null`: not read yet. */
  todayUsd: number | null;
  /** How many experiments each research has begun. */
  experiments: ReadonlyMap<string, number>;
}

export const NO_FIGURES: BoardFigures = { todayUsd: null, experiments: new Map() };

/** What `experiments` answers at most in one page. */
const PAGE = 500;

export type FigureReader = (overview: Overview, nowMs: number) => Promise<BoardFigures>;

/** Remembers what it read last: a look at sessions where nothing happened asks the store for nothing more. */
export function createFigureReader(pulse: Pick<Pulse, 'sums' | 'research'>): FigureReader {
  const experiments = new Map<string, number>();
  const marks = new Map<string, string>();
  let today: { mark: string; usd: number } | null = null;

  async function countExperiments(id: string): Promise<number> {
    let count = experiments.get(id) ?? 0;
    for (let after: number | null = count; after !== null; ) {
      const page = await pulse.research.experiments(id, { after, limit: PAGE });
      count = page.experiments.at(-1)?.number ?? count;
      after = page.nextAfter;
    }
    return count;
  }

  return async ({ groups }, nowMs) => {
    const entries = ATTENTION_GROUPS.flatMap((group) => groups[group]);
    for (const { id, kind, current_iteration: runs, status, total_tokens_used: tokens } of entries) {
      const mark = `${status} ${runs} ${tokens}`;
      if (kind !== 'research' || marks.get(id) === mark) continue;
      experiments.set(id, await countExperiments(id));
      marks.set(id, mark);
    }
    const from = midnight(nowMs);
    const mark = `${from} ${entries.map(({ spent_usd: usd, current_iteration: runs }) => `${usd} ${runs}`).join()}`;
    if (today?.mark !== mark) today = { mark, usd: (await pulse.sums({ from })).total.spentUsd };
    return { todayUsd: today.usd, experiments };
  };
}

function midnight(nowMs: number): string {
  const day = new Date(nowMs);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate()).toISOString();
}
