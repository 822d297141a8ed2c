/** A person's question about the code of a checkout: answered as an agent's `semantic_search` is. */
import { setTimeout as delay } from 'node:timers/promises';
import type { CodeIndexes, IndexedWorktree } from '../../context/code-index/code-indexes.ts';
import { agentEnvironment } from '../../process/environment.ts';
import { DEFAULT_WORK_LIMITS, type FoundByMeaning } from '../../tools/work/context.ts';
import { searchCode } from '../../tools/work/semantic-search.ts';

/** So long the index may work before it answers, where it is not ready: a person would rather wait than be told little. */
const PATIENCE_MS = 500;
const STEP_MS = 50;

export interface CodeQuestion extends IndexedWorktree {
  query: string;
  limit: number;
  patienceMs?: number;
}

export async function searchCheckout(
  { indexes, environment }: { indexes: CodeIndexes; environment: NodeJS.ProcessEnv },
  { query, limit, patienceMs = PATIENCE_MS, ...indexed }: CodeQuestion,
): Promise<FoundByMeaning> {
  using index = indexes.open(indexed);
  // Awaited here, while the index is open.
  return await searchCode(
    {
      root: indexed.worktree,
      environment: agentEnvironment({ base: environment, own: [], pass: [], add: {} }),
      limits: DEFAULT_WORK_LIMITS,
      signal: new AbortController().signal,
      notCode: indexed.except,
      async findByMeaning(text, most) {
        const until = performance.now() + patienceMs;
        for (;;) {
          const found = await index.search(text, most);
          if (found.index === 'ready' || performance.now() > until) return found;
          await delay(STEP_MS);
        }
      },
    },
    query,
    limit,
  );
}
