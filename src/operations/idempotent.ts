/** Does once what a request with a key asks for, however often and from however many clients it comes. */
import { isPulseError, PulseError } from '../domain/errors.ts';
import { claimKey, findKey, keepAnswer, type RequestKey, type StoredAnswer } from '../store/idempotency.ts';
import type { Operations, TransactionHook } from './context.ts';

export interface KeyedWork {
  /** Has the effect; `claim` belongs into its transaction. What it throws is not remembered. */
  perform(claim: TransactionHook): Promise<StoredAnswer & { sessionId: string }>;
  /** The answer when the effect is there, but its process died before it answered. */
  recover(sessionId: string): Promise<StoredAnswer>;
}

/** Throws `key_reused` when the key came with another request before. */
export async function runIdempotent(
  { engine }: Operations,
  request: RequestKey,
  { perform, recover }: KeyedWork,
): Promise<StoredAnswer> {
  const { store } = engine;
  const find = async (): Promise<StoredAnswer | null> => {
    const known = await store.read((db) => findKey(db, request.key));
    if (!known) return null;
    if (known.digest !== request.digest) throw keyReused();
    return known.answer ?? keep(await recover(known.sessionId));
  };
  const keep = (answer: StoredAnswer): Promise<StoredAnswer> =>
    store.tx('answer', (db) => keepAnswer(db, request, answer));
  const claim: TransactionHook = async (db, sessionId) => {
    if (!(await claimKey(db, request, sessionId))) throw new KeyTaken();
  };

  const before = await find();
  if (before) return before;
  try {
    const { sessionId, status, body } = await perform(claim);
    // An operation that changed nothing has claimed nothing yet.
    await store.tx('answer', (db) => claimKey(db, request, sessionId));
    return await keep({ status, body });
  } catch (error) {
    // The second request finds the key taken, or the state that the first has left.
    const isSecond = error instanceof KeyTaken || isPulseError(error, 'invalid_transition');
    const meanwhile = isSecond ? await find() : null;
    if (!meanwhile) throw error;
    return meanwhile;
  }
}

/** Undoes the transaction of the second request. */
class KeyTaken extends Error {
  override readonly name = 'KeyTaken';
}

export function keyReused(): PulseError {
  return new PulseError('key_reused', 'This Idempotency-Key came with another request before.', {
    hint: 'Use a new key for a new request; the same key only to repeat the same one.',
  });
}
