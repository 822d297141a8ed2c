import type { VerificationRecord } from '../domain/attempt.ts';
import { readPackedTexts } from './packs.ts';
import { type Db, fromJson, toJson } from './store.ts';

export interface VerificationKey {
  sessionId: string;
  iteration: number;
  attempt: number;
}

/** Evidence of one attempt, in the order in which its commands ran. Writing it twice writes it once. */
export async function insertVerifications(
  db: Db,
  { sessionId, iteration, attempt }: VerificationKey,
  records: readonly VerificationRecord[],
): Promise<void> {
  if (records.length === 0) return;
  await db
    .insertInto('verifications')
    .values(
      records.map((record, position) => ({
        id: `${sessionId}:${iteration}.${attempt}:${position}`,
        session_id: sessionId,
        iteration_number: iteration,
        attempt,
        position,
        command: record.command,
        cwd: record.cwd,
        exit: record.exit,
        passed: record.passed ? 1 : 0,
        duration_ms: record.durationMs,
        output_hash: record.outputHash,
        output_tail: record.outputTail,
        tree: record.tree,
        commit_hash: record.commit,
        environment: record.environment,
        at: record.at,
        detail: detailOf(record),
      })),
    )
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

export interface StoredVerification extends VerificationRecord {
  iteration: number;
  attempt: number;
}

export async function listVerifications(
  db: Db,
  sessionId: string,
  iteration?: number,
): Promise<StoredVerification[]> {
  let query = db
    .selectFrom('verifications')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('iteration_number')
    .orderBy('attempt')
    .orderBy('position');
  if (iteration !== undefined) query = query.where('iteration_number', '=', iteration);
  const rows = await query.execute();
  const tails = rows.some((row) => row.output_tail === '') ? await packedTails(db, sessionId, iteration) : {};
  return rows.map((row) => ({
    iteration: row.iteration_number,
    attempt: row.attempt,
    command: row.command,
    cwd: row.cwd,
    exit: row.exit,
    passed: row.passed === 1,
    durationMs: row.duration_ms,
    outputHash: row.output_hash,
    outputTail: tails[row.id] ?? row.output_tail,
    tree: row.tree,
    commit: row.commit_hash,
    environment: row.environment,
    at: row.at,
    ...(row.detail === null ? {} : fromJson<RecordDetail>(row.detail)),
  }));
}

/** What a record may have beyond its columns. */
type RecordDetail = Pick<VerificationRecord, 'tests' | 'isFlaky' | 'isReused' | 'isHeldOut'>;

function detailOf({ tests, isFlaky, isReused, isHeldOut }: VerificationRecord): string | null {
  const detail: RecordDetail = {
    ...(tests ? { tests } : {}),
    ...(isFlaky ? { isFlaky } : {}),
    ...(isReused ? { isReused } : {}),
    ...(isHeldOut ? { isHeldOut } : {}),
  };
  return Object.keys(detail).length === 0 ? null : toJson(detail);
}

async function packedTails(db: Db, sessionId: string, iteration?: number): Promise<Record<string, string>> {
  const range = iteration === undefined ? {} : { first: iteration, last: iteration };
  const texts = await readPackedTexts(db, sessionId, range);
  return Object.assign({}, ...[...texts.values()].map((text) => text.tails));
}
