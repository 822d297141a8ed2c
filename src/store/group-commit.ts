/**
 * Small transactions that wait at the same time are written as one, each behind a savepoint of its own: the disk is waited
 * for once. None is answered before all are durable. What one throws undoes that one alone.
 */
import { sql } from 'kysely';
import type { Db } from './store.ts';

/** So that the first of a crowd does not wait for all of it. */
const MOST_AT_ONCE = 32;

interface Waiting {
  work(db: Db): Promise<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

type Transact = <T>(work: (db: Db) => Promise<T>) => Promise<T>;

/** `transact` makes one durable transaction. */
export function createGroupCommit(transact: Transact): Transact {
  const waiting: Waiting[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    // What was asked for in the same moment belongs to the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await writeGroup(transact, waiting.splice(0, MOST_AT_ONCE));
    isWriting = false;
  }

  return <T>(work: (db: Db) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: (result) => resolve(result as T), reject });
      if (!isWriting) void writeAll();
    });
}

async function writeGroup(transact: Transact, group: readonly Waiting[]): Promise<void> {
  let answers: (() => void)[] = [];
  try {
    await transact(async (db) => {
      answers = [];
      for (const each of group) answers.push(await attempt(db, each));
    });
  } catch (error) {
    // The database has given up the whole, as it does when the disk is full.
    for (const { reject } of group) reject(error);
    return;
  }
  for (const answer of answers) answer();
}

/** How its caller is to be answered once all is durable. */
async function attempt(db: Db, { work, resolve, reject }: Waiting): Promise<() => void> {
  await sql`SAVEPOINT of_one`.execute(db);
  try {
    const result = await work(db);
    await sql`RELEASE of_one`.execute(db);
    return () => resolve(result);
  } catch (error) {
    // Fails where nothing is left to go back to: then the whole has failed.
    await sql`ROLLBACK TO of_one`.execute(db);
    await sql`RELEASE of_one`.execute(db);
    return () => reject(error);
  }
}
