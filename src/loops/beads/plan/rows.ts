/** `bead_plans`: what a session drafts, and where it is written. */
import type { ColumnTypes } from '../../../store/migrations/types.ts';
import type { Json } from '../../../store/schema.ts';
import { type Db, fromJson, storeNow, toJson } from '../../../store/store.ts';
import type { BeadDraft } from './draft.ts';

interface BeadPlansTable {
  session_id: string;
  project_id: string;
  /** From the top of the repository. */
  file: string;
  draft: Json | null;
  /** Why the last draft was not good; `null`: there was none. */
  faults: string | null;
  written_at: string | null;
  created_at: string;
}

export interface BeadPlan extends Omit<BeadPlansTable, 'draft'> {
  draft: BeadDraft | null;
}

const withPlans = (db: Db) => db.withTables<{ bead_plans: BeadPlansTable }>();

export function plansMigration({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE bead_plans (
      session_id text PRIMARY KEY REFERENCES pulse_sessions (id),
      project_id text NOT NULL,
      file text NOT NULL,
      draft ${json},
      faults text,
      written_at text,
      created_at text NOT NULL
    )`,
  ];
}

export async function insertPlan(
  db: Db,
  plan: Pick<BeadPlan, 'session_id' | 'project_id' | 'file'>,
): Promise<void> {
  await withPlans(db)
    .insertInto('bead_plans')
    .values({ ...plan, draft: null, faults: null, written_at: null, created_at: storeNow() })
    .execute();
}

export async function findPlan(db: Db, sessionId: string): Promise<BeadPlan | null> {
  const row = await withPlans(db)
    .selectFrom('bead_plans')
    .selectAll()
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row ? { ...row, draft: row.draft === null ? null : fromJson<BeadDraft>(row.draft) } : null;
}

export async function keepDraft(
  db: Db,
  sessionId: string,
  { draft, faults }: Pick<BeadPlan, 'draft' | 'faults'>,
): Promise<void> {
  await withPlans(db)
    .updateTable('bead_plans')
    .set({ draft: draft && toJson(draft), faults })
    .where('session_id', '=', sessionId)
    .execute();
}

/** `file`: another one, where somebody has taken the name meanwhile. */
export async function markWritten(db: Db, sessionId: string, file: string): Promise<void> {
  await withPlans(db)
    .updateTable('bead_plans')
    .set({ file, written_at: storeNow() })
    .where('session_id', '=', sessionId)
    .execute();
}
