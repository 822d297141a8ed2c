/** Turns by their words: BM25, and a part of what a turn's neighbours score. The same on both stores. */
import { sql } from 'kysely';
import { type Db, inPortions, isPostgres } from '../../store/store.ts';
import { readTerms } from './term-hashes.ts';

const K1 = 1.2;
const B = 0.75;
/** An answer often has none of the question's words: it stands below the turn that has them. */
const NEIGHBOUR_SHARE = 0.35;
const WITH_NEIGHBOURS = 40;
const MOST_NEIGHBOURS = 400;
/** Counting stops here: a word that so many turns have tells nothing apart. */
const MOST_COUNTED = 20_000;
const A_WORD = 1_000;
const MOST_CANDIDATES = 1_500;

export interface ScoredTurn {
  number: number;
  score: number;
}

export interface LexicalQuestion {
  projectId: string;
  /** Hashed. */
  terms: readonly string[];
  /** Only these turns, by their numbers; `null`: all of the project. */
  within: readonly number[] | null;
}

/** Best first. */
export async function searchWords(db: Db, question: LexicalQuestion): Promise<ScoredTurn[]> {
  const { terms, within, projectId } = question;
  if (terms.length === 0) return [];
  const documents = new Map<string, number>();
  for (const term of terms) documents.set(term, await countTurns(db, having(db, term)));
  const size = await countTurns(db, sql`SELECT 1 FROM turn_terms WHERE project_id = ${projectId}`);
  const numbers = within ?? (await candidates(db, documents));
  const own = await scoreTurns(db, { numbers, documents, size });
  return withNeighbours(db, own, within && new Set(within));
}

function having(db: Db, term: string) {
  return isPostgres(db)
    ? sql`SELECT turn_number AS number FROM turn_terms WHERE words @@ ${term}::tsquery`
    : sql`SELECT rowid AS number FROM turn_words WHERE turn_words MATCH ${term}`;
}

async function countTurns(db: Db, found: ReturnType<typeof having>): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM
    (${found} LIMIT ${sql.lit(MOST_COUNTED)}) AS found`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

/** The rarest words first: where there are too many turns, these tell most. */
async function candidates(db: Db, documents: ReadonlyMap<string, number>): Promise<number[]> {
  const found = new Set<number>();
  const byRarity = [...documents].filter(([, count]) => count > 0).sort(([, a], [, b]) => a - b);
  for (const [term] of byRarity) {
    if (found.size >= MOST_CANDIDATES) break;
    const { rows } = await sql<{ number: number }>`SELECT number FROM (${having(db, term)}) AS found
      ORDER BY number DESC LIMIT ${sql.lit(A_WORD)}`.execute(db);
    for (const { number } of rows) found.add(Number(number));
  }
  return [...found];
}

interface Scoring {
  numbers: readonly number[];
  documents: ReadonlyMap<string, number>;
  size: number;
}

async function scoreTurns(db: Db, { numbers, documents, size }: Scoring): Promise<Map<number, number>> {
  const turns: { number: number; length: number; terms: string }[] = [];
  for (const portion of inPortions(numbers)) {
    const rows = await db
      .selectFrom('turn_terms')
      .select(['turn_number as number', 'length', 'terms'])
      .where('turn_number', 'in', portion)
      .execute();
    turns.push(...rows);
  }
  const average = turns.reduce((sum, { length }) => sum + length, 0) / Math.max(turns.length, 1) || 1;
  const scores = new Map<number, number>();
  for (const { number, length, terms } of turns) {
    let score = 0;
    for (const { term, count } of readTerms(terms)) {
      const having = documents.get(term);
      if (having === undefined) continue;
      const rarity = Math.log(1 + (Math.max(size, having) - having + 0.5) / (having + 0.5));
      score += (rarity * (count * (K1 + 1))) / (count + K1 * (1 - B + (B * length) / average));
    }
    if (score > 0) scores.set(number, score);
  }
  return scores;
}

async function withNeighbours(
  db: Db,
  own: ReadonlyMap<number, number>,
  within: ReadonlySet<number> | null,
): Promise<ScoredTurn[]> {
  const best = ranked(own).slice(0, WITH_NEIGHBOURS);
  const scores = new Map(own);
  const share = new Map<number, number>();
  for (const { of, number } of await neighboursOf(db, best)) {
    if (within && !within.has(number)) continue;
    share.set(number, Math.max(share.get(number) ?? 0, own.get(of) ?? 0));
  }
  for (const [number, part] of share) scores.set(number, (own.get(number) ?? 0) + NEIGHBOUR_SHARE * part);
  return ranked(scores);
}

async function neighboursOf(db: Db, turns: readonly ScoredTurn[]): Promise<{ of: number; number: number }[]> {
  if (turns.length === 0) return [];
  const numbers = sql.join(turns.map(({ number }) => number));
  const { rows } = await sql<{ of: number; number: number }>`
    SELECT a.number AS of, b.number AS number FROM turns a CROSS JOIN turns b
    WHERE a.number IN (${numbers}) AND b.id = a.parent_id AND b.project_id = a.project_id
    UNION ALL SELECT * FROM (
      SELECT a.number AS of, b.number AS number FROM turns a CROSS JOIN turns b
      WHERE a.number IN (${numbers}) AND b.parent_id = a.id AND b.project_id = a.project_id
      ORDER BY a.number, b.number LIMIT ${sql.lit(MOST_NEIGHBOURS)}) AS below`.execute(db);
  return rows.map(({ of, number }) => ({ of: Number(of), number: Number(number) }));
}

/** Equals in the order of their numbers, so that the same question has the same answer. */
function ranked(scores: ReadonlyMap<number, number>): ScoredTurn[] {
  return Array.from(scores, ([number, score]) => ({ number, score })).sort(
    (a, b) => b.score - a.score || a.number - b.number,
  );
}
