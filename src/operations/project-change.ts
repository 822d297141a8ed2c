/** Changes of a project that belong to no session: each is one transaction, and with a key it is made once. */
import { isPulseError } from '../domain/errors.ts';
import type { RequestKey } from '../store/idempotency.ts';
import { findProjectAnswer, keepProjectAnswer } from '../store/project-requests.ts';
import type { Db } from '../store/store.ts';
import type { Operations } from './context.ts';
import { keyReused } from './idempotent.ts';

/** Called in the transaction of the change, with what it answers; what it throws undoes both. */
export type AnswerHook = (db: Db, answer: unknown) => Promise<void>;

export interface ProjectChange {
  label: string;
  keep?: AnswerHook;
  isSmall?: boolean;
  /** Changes that come one after the other anyway, because they take the same lock. */
  queue?: string;
}

/** One transaction: the change, and its answer where a key asks for it. `work` only calls the store. */
export function changeProject<T>(
  { engine: { store } }: { engine: Pick<Operations['engine'], 'store'> },
  { label, keep, isSmall = true, queue }: ProjectChange,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  return store.tx(
    label,
    async (db) => {
      const answer = await work(db);
      await keep?.(db, answer);
      return answer;
    },
    { isSmall, queue },
  );
}

/** Makes a change that has a key, or gives the answer it was given before. Throws `key_reused`. */
export async function changeProjectOnce(
  operations: Operations,
  request: RequestKey,
  change: (keep: AnswerHook) => Promise<unknown>,
): Promise<unknown> {
  const { key } = request;
  const before = underWay.get(key);
  const changing = (async () => {
    // It may reach beyond the store, as a message does: the second finds what the first has answered.
    await before?.catch(() => undefined);
    return changeOrFind(operations, request, change);
  })();
  underWay.set(key, changing);
  try {
    return await changing;
  } finally {
    if (underWay.get(key) === changing) underWay.delete(key);
  }
}

/** Of this process, by their keys. */
const underWay = new Map<string, Promise<unknown>>();

async function changeOrFind(
  { engine: { store } }: Operations,
  request: RequestKey,
  change: (keep: AnswerHook) => Promise<unknown>,
): Promise<unknown> {
  const find = async (): Promise<{ answer: unknown } | null> => {
    const known = await store.read((db) => findProjectAnswer(db, request.key));
    if (!known) return null;
    if (known.digest !== request.digest) throw keyReused();
    return { answer: JSON.parse(known.answer) };
  };
  const before = await find();
  if (before) return before.answer;
  try {
    return await change(async (db, answer) => {
      if (!(await keepProjectAnswer(db, request, JSON.stringify(answer)))) throw new KeyTaken();
    });
  } catch (error) {
    // The second request finds the key taken, or the state that the first has left.
    const isSecond = error instanceof KeyTaken || isPulseError(error);
    const meanwhile = isSecond ? await find() : null;
    if (!meanwhile) throw error;
    return meanwhile.answer;
  }
}

/** Undoes the transaction of the second request. */
class KeyTaken extends Error {
  override readonly name = 'KeyTaken';
}
