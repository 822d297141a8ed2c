/** A review that is not decided yet: what a person has written and looked at, on any device. */
import type { ColumnTypes } from '../../store/migrations/types.ts';
import type { Json } from '../../store/schema.ts';
import { type Db, fromJson, storeNow, toJson } from '../../store/store.ts';

export interface DraftComment {
  path: string;
  side: 'old' | 'new';
  line: number;
  text: string;
}

export interface DraftContent {
  /** Of the whole. */
  text: string;
  comments: DraftComment[];
  /** Files that were read. */
  viewed: string[];
  /** The commit that is reviewed; missing where the writer did not say. */
  head?: string;
}

export interface Draft extends DraftContent {
  savedAt: string;
  savedBy: string;
}

interface DraftsTable {
  session_id: string;
  content: Json;
  saved_at: string;
  saved_by: string;
}

const withDrafts = (db: Db) => db.withTables<{ review_drafts: DraftsTable }>();

export function reviewDrafts({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE review_drafts (
      session_id text PRIMARY KEY,
      content ${json} NOT NULL,
      saved_at text NOT NULL,
      saved_by text NOT NULL
    )`,
  ];
}

export async function findDraft(db: Db, sessionId: string): Promise<Draft | null> {
  const row = await withDrafts(db)
    .selectFrom('review_drafts')
    .selectAll()
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  if (!row) return null;
  return { ...fromJson<DraftContent>(row.content), savedAt: row.saved_at, savedBy: row.saved_by };
}

export async function saveDraft(
  db: Db,
  sessionId: string,
  { content, actor }: { content: DraftContent; actor: string },
): Promise<void> {
  const row = { content: toJson(content), saved_at: storeNow(), saved_by: actor };
  await withDrafts(db)
    .insertInto('review_drafts')
    .values({ session_id: sessionId, ...row })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet(row))
    .execute();
}

/** With the decision. */
export async function deleteDraft(db: Db, sessionId: string): Promise<void> {
  await withDrafts(db).deleteFrom('review_drafts').where('session_id', '=', sessionId).execute();
}
