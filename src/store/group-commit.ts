/**
 * Small transactions that wait at the same time are written as one: the disk is waited for once. None is answered before
 * all are durable. What one throws reaches its own caller alone.
 */
import { isPulseError } from '../domain/errors.ts';
import type { Db } from './store.ts';

/** So that the first of a crowd does not wait for all of it. */
const MOST_AT_ONCE = 32;

interface Waiting {
  work(db: Db): Promise<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

type Transact = <T>(work: (db: Db) => Promise<T>) => Promise<T>;

/** `transact` makes one durable transaction. `onIdle`: nobody waits any longer. */
export function createGroupCommit(transact: Transact, onIdle?: () => void): Transact {
  const waiting: Waiting[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    // What was asked for in the same moment belongs to the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await writeGroup(transact, waiting.splice(0, MOST_AT_ONCE));
    isWriting = false;
    onIdle?.();
  }

  return <T>(work: (db: Db) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: (result) => resolve(result as T), reject });
      if (!isWriting) void writeAll();
    });
}

/** What one throws undoes all: then each is written by itself, which is rare enough to cost nothing else. */
async function writeGroup(transact: Transact, group: readonly Waiting[]): Promise<void> {
  let hasRun = false;
  try {
    const results = await transact(async (db) => {
      hasRun = false;
      const made: unknown[] = [];
      for (const { work } of group) made.push(await work(db));
      hasRun = true;
      return made;
    });
    for (const [index, { resolve }] of group.entries()) resolve(results[index]);
  } catch (error) {
    // A COMMIT that the store could not answer for may have been kept: it is not repeated.
    const isOver = group.length === 1 || (hasRun && isPulseError(error));
    for (const { work, resolve, reject } of group)
      await (isOver ? reject(error) : transact(work).then(resolve, reject));
  }
}

/** A group of its own for each key, as long as somebody waits in it. */
export function createKeyedGroupCommit(
  transact: Transact,
): <T>(key: string, work: (db: Db) => Promise<T>) => Promise<T> {
  const groups = new Map<string, Transact>();
  return (key, work) => {
    const group = groups.get(key) ?? createGroupCommit(transact, () => void groups.delete(key));
    groups.set(key, group);
    return group(work);
  };
}
