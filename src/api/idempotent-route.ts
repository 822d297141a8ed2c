import { createHash } from 'node:crypto';
import { redactJson } from '../domain/redact.ts';
import type { TransactionHook } from '../operations/context.ts';
import type { AnyOperation, Changed } from '../operations/operation.ts';
import type { Session } from '../store/sessions.ts';
import type { OperationRoutes } from './operation-route.ts';

export interface Change extends OperationRoutes {
  /** The header `Idempotency-Key`. */
  key: string | undefined;
  input: Record<string, unknown>;
}

/** Makes a change and answers for it; with a key once, and the same to everyone who asks the same. */
export async function performChange(operation: AnyOperation, change: Change): Promise<unknown> {
  if (operation.isOfProject) return changeOfProject(operation, change);
  const { pulse, key, input } = change;
  const answer = async (session: Session, result: Changed | null): Promise<unknown> =>
    operation.answer
      ? operation.answer(redactJson(session), result, pulse.call)
      : { session: redactJson(session) };
  if (key === undefined) {
    const result = await perform(operation, change);
    return answer(result.session, result);
  }
  const digest = digestOf(operation, input);
  const status = operation.http!.status!;
  const { body } = await pulse.runIdempotent(
    { key, digest },
    {
      async perform(claim) {
        const result = await perform(operation, change, claim);
        const { session } = result;
        return { sessionId: session.id, status, body: JSON.stringify(await answer(session, result)) };
      },
      async recover(sessionId) {
        return { status, body: JSON.stringify(await answer(await pulse.session(sessionId), null)) };
      },
    },
  );
  return JSON.parse(body);
}

/** Its answer is kept in its own transaction: nothing has to be found out after a crash. */
function changeOfProject(operation: AnyOperation, { pulse, key, input }: Change): Promise<unknown> {
  if (key === undefined) return pulse.call(operation, input);
  const request = { key, digest: digestOf(operation, input) };
  return pulse.changeProjectOnce(request, (keep) => pulse.call(operation, { ...input, keep }));
}

/** Of everything that the request asks for. */
function digestOf({ name }: AnyOperation, input: Record<string, unknown>): string {
  return createHash('sha256')
    .update(JSON.stringify([name, input]))
    .digest('hex');
}

/** The session it lets go on runs in this process. */
async function perform(
  operation: AnyOperation,
  { pulse, runSession, take, input }: Change,
  claim?: TransactionHook,
): Promise<Changed> {
  const within = inOneTransaction(claim, operation.runsSession?.(input) ? take : undefined);
  const result: Changed = await pulse.call(operation, { ...input, within });
  if (result.next === 'run') runSession(result.session.id);
  if (result.started) runSession(result.started.id);
  return result;
}

/** Written in this order. */
function inOneTransaction(...parts: (TransactionHook | undefined)[]): TransactionHook {
  return async (db, sessionId) => {
    for (const part of parts) await part?.(db, sessionId);
  };
}
