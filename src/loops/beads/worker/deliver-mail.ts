/** Mail into a running worker: told once, and recorded as delivered before it is told. */
import { deliverMessages, hasUnfetched } from '../../../coordination/mail/deliver.ts';
import type { ProtocolRun } from '../../../engine/work.ts';
import { appendEvents } from '../../../store/events.ts';
import type { Store } from '../../../store/store.ts';
import { mailNotice } from '../files/mail-quote.ts';
import type { BeadWork } from './work-data.ts';

declare module '../../../domain/events.ts' {
  interface LoopEventTypes {
    'mail.delivered': true;
  }
}

/** At once; the rest comes with the next answer. */
const MESSAGES_TOLD = 5;

/** `null`: nothing is new. */
export async function takeMail(
  store: Store,
  { attempt, work, listener }: Pick<ProtocolRun<BeadWork>, 'attempt' | 'work' | 'listener'>,
): Promise<string | null> {
  const { projectId: project, mailName: agent } = work;
  if (!(await store.read((db) => hasUnfetched(db, { project, agent })))) return null;
  const { sessionId, iteration } = attempt;
  const messages = await listener.write('mail', async (db) => {
    const delivered = await deliverMessages(db, { project, agent, limit: MESSAGES_TOLD });
    const told = delivered.map(({ id, sender_name: from, subject }) => ({ id, from, subject }));
    if (told.length > 0)
      await appendEvents(db, sessionId, [{ type: 'mail.delivered', iteration, data: { messages: told } }]);
    return delivered;
  });
  return messages.length === 0 ? null : mailNotice(messages);
}
