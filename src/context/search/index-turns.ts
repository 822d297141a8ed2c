/** Makes turns findable. Each portion is one transaction; what a crash leaves out, the next search indexes. */
import { sql } from 'kysely';
import { type Db, isPostgres, type Store } from '../../store/store.ts';
import { claimUnindexed, type NumberedTurn } from '../../store/turns.ts';
import { countTerms, writeTerms } from './term-hashes.ts';

const PORTION = 200;

export async function indexTurns(store: Store, projectId: string): Promise<void> {
  const isDue = async (db: Db) =>
    (await db
      .selectFrom('turns')
      .select('number')
      .where('project_id', '=', projectId)
      .where('is_indexed', '=', sql.lit(0))
      .limit(1)
      .executeTakeFirst()) !== undefined;
  while (await store.read(isDue, { hasNoSnapshot: true }))
    await store.tx('index turns', (db) => indexPortion(db, projectId));
}

async function indexPortion(db: Db, projectId: string): Promise<void> {
  for (const turn of await claimUnindexed(db, projectId, PORTION)) await indexTurn(db, projectId, turn);
}

async function indexTurn(db: Db, projectId: string, { number, content }: NumberedTurn): Promise<void> {
  const terms = countTerms(projectId, content);
  const length = terms.reduce((sum, { count }) => sum + count, 0);
  const written = writeTerms(terms);
  const words = terms.map(({ term }) => term).join(' ');
  const row = sql`${number}, ${projectId}, ${length}, ${written}`;
  if (isPostgres(db)) {
    await sql`INSERT INTO turn_terms (turn_number, project_id, length, terms, words)
      VALUES (${row}, array_to_tsvector(string_to_array(${words}, ' ')))`.execute(db);
    return;
  }
  await sql`INSERT INTO turn_terms (turn_number, project_id, length, terms) VALUES (${row})`.execute(db);
  await sql`INSERT INTO turn_words (rowid, words) VALUES (${number}, ${words})`.execute(db);
}
