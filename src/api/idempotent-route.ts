import { createHash } from 'node:crypto';
import { redactJson } from '../domain/redact.ts';
import type { TransactionHook } from '../operations/context.ts';
import type { Pulse } from '../pulse.ts';
import type { Session } from '../store/sessions.ts';

export interface Change<T> {
  /** The header `Idempotency-Key`. */
  key: string | undefined;
  /** Everything that makes this request what it is. */
  asked: readonly unknown[];
  status: 201 | 202;
  /** `claim` belongs into the transaction of the change. */
  perform(claim: TransactionHook | undefined): Promise<Session>;
  answer(session: Session): T | Promise<T>;
}

/** Makes a change and answers for it; with a key once, and the same to everyone who asks the same. */
export async function change<T>(pulse: Pulse, request: Change<T>): Promise<T> {
  const { key, asked, status, perform } = request;
  const answer = async (session: Session): Promise<T> => request.answer(redactJson(session));
  if (key === undefined) return answer(await perform(undefined));
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest('hex');
  const { body } = await pulse.runIdempotent(
    { key, digest },
    {
      async perform(claim) {
        const session = await perform(claim);
        return { sessionId: session.id, status, body: JSON.stringify(await answer(session)) };
      },
      async recover(sessionId) {
        return { status, body: JSON.stringify(await answer(await pulse.session(sessionId))) };
      },
    },
  );
  return JSON.parse(body) as T;
}

/** Written in one transaction, in this order. */
export function together(...parts: (TransactionHook | undefined)[]): TransactionHook {
  return async (db, sessionId) => {
    for (const part of parts) await part?.(db, sessionId);
  };
}
