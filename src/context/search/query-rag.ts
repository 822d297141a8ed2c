/** RAG++: which turns help with a goal, by words and by meaning, within a slice or the whole project. */
import { PulseError } from '../../domain/errors.ts';
import { type Db, inPortions, type Store } from '../../store/store.ts';
import type { Slice } from '../slice/slice.ts';
import { openSliceKeys } from '../slice/slice-keys.ts';
import { isAdmissible } from '../slice/slice-token.ts';
import { indexTurns } from './index-turns.ts';
import { searchWords } from './lexical.ts';
import { askedTerms } from './term-hashes.ts';
import type { TurnMeaning } from './turn-meaning.ts';

/** Reciprocal ranks, as in the code index. */
const RANK_OFFSET = 10;
const MEANING_WEIGHT = 0.4;
/** A judgement: what a service's model is worth here nobody has measured. */
const EMBEDDED_WEIGHT = 1;
const EMBEDDED_RANKED = 30;
const RANKED = 100;
const MOST_FOUND = 20;

export interface FoundTurn {
  turn_id: string;
  /** Above 0, at most 1: it tells the order, not a probability. */
  similarity: number;
  salience: number;
  depth: number;
}

export interface RagQuestion {
  /** Words; nothing in them is syntax. */
  goal: string;
  projectId: string;
  /** `null`: the whole project. */
  slice: Pick<Slice, 'slice_id' | 'turn_ids' | 'admissibility_token'> | null;
  /** Never among the results. */
  except?: readonly string[];
  limit?: number;
  /** How long it may wait for a model of meaning where there is none yet (0). */
  patienceMs?: number;
}

/** Best first; `[]` for nothing. Throws `forbidden` for a slice that Pulse did not make. */
export async function queryRag(
  { store, meaning }: { store: Store; meaning?: TurnMeaning },
  { goal, projectId, slice, except = [], limit = MOST_FOUND, patienceMs }: RagQuestion,
): Promise<FoundTurn[]> {
  if (slice && !isAdmissible(await openSliceKeys(store), slice))
    throw new PulseError('invalid_input', 'The slice is none that Pulse has made.');
  await indexTurns(store, projectId);
  const terms = askedTerms(projectId, goal);
  const within = slice && (await store.read((db) => numbersOf(db, projectId, slice.turn_ids)));
  const byWords = await store.read((db) => searchWords(db, { projectId, terms, within }), {
    hasNoSnapshot: true,
  });
  const embedded = meaning?.embeddings?.search(store, {
    ...{ projectId, goal, within, limit: EMBEDDED_RANKED },
  });
  const byMeaning =
    (await meaning?.search(store, { projectId, terms, within, limit: RANKED, patienceMs })) ?? [];
  const scores = new Map<number, number>();
  const rank = (numbers: readonly number[], weight: number) => {
    for (const [index, number] of numbers.entries())
      scores.set(number, (scores.get(number) ?? 0) + weight / (RANK_OFFSET + index));
  };
  rank(
    byWords.slice(0, RANKED).map(({ number }) => number),
    1,
  );
  rank(byMeaning, MEANING_WEIGHT);
  const byService = (await embedded) ?? [];
  rank(byService, EMBEDDED_WEIGHT);
  const most = (1 + MEANING_WEIGHT + (byService.length > 0 ? EMBEDDED_WEIGHT : 0)) / RANK_OFFSET;
  const best = [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, limit + except.length);
  const found = await store.read((db) => describeTurns(db, { best, most }), { hasNoSnapshot: true });
  return found.filter(({ turn_id }) => !except.includes(turn_id)).slice(0, limit);
}

async function numbersOf(db: Db, projectId: string, ids: readonly string[]): Promise<number[]> {
  const numbers: number[] = [];
  for (const portion of inPortions(ids)) {
    const rows = await db
      .selectFrom('turns')
      .select('number')
      .where('project_id', '=', projectId)
      .where('id', 'in', portion)
      .execute();
    numbers.push(...rows.map(({ number }) => Number(number)));
  }
  return numbers;
}

async function describeTurns(
  db: Db,
  { best, most }: { best: readonly (readonly [number, number])[]; most: number },
): Promise<FoundTurn[]> {
  if (best.length === 0) return [];
  const rows = await db
    .selectFrom('turns')
    .select(['number', 'id', 'salience', 'depth'])
    .where(
      'number',
      'in',
      best.map(([number]) => number),
    )
    .execute();
  const byNumber = new Map(rows.map((row) => [Number(row.number), row]));
  return best.flatMap(([number, score]) => {
    const row = byNumber.get(number);
    if (!row) return [];
    const similarity = Math.round((score / most) * 1e6) / 1e6;
    return [{ turn_id: row.id, similarity, salience: row.salience, depth: row.depth }];
  });
}
