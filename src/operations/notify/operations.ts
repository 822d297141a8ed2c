/** What people are told, ready to be asked for. */
import * as z from 'zod';
import { loadConfig } from '../../config.ts';
import { CHANNELS } from '../../domain/channels.ts';
import { openRepository } from '../../git/repository.ts';
import { makePairing, pairingText } from '../../notify/inbound/pairing.ts';
import { tryChannel } from '../../notify/try-channel.ts';
import {
  countNotifications,
  listNotifications,
  NOTIFICATION_STATUSES,
  retryNotification,
} from '../../notify/view-outbox.ts';
import { loadTrustedConfig } from '../../trust.ts';
import type { Operations } from '../context.ts';
import { operation } from '../operation.ts';
import { changeProject } from '../project-change.ts';
import { time } from '../session/view-schema.ts';
import * as definitions from './definitions.ts';
import { CHATS } from './definitions.ts';

const Notification = z
  .object({
    id: z.string(),
    session_id: z.string(),
    seq: z.int(),
    type: z.string(),
    iteration: z.int().nullable(),
    channel: z.enum([...CHANNELS, 'issue']),
    destination: z.string().meta({ description: 'Of an address only where it leads to.' }),
    status: z.enum(NOTIFICATION_STATUSES),
    attempts: z.int(),
    run_at: time.nullable().meta({ description: 'When it is tried next.' }),
    error: z.string().nullable(),
    created_at: time,
    sent_at: time.nullable(),
  })
  .meta({ id: 'Notification' });

const Counts = z.object({ waiting: z.int(), planned: z.int(), failed: z.int() });

export const notificationOperations = {
  list: operation(definitions.list, {
    view: z.object({
      notifications: z.array(Notification),
      counts: Counts,
      nextCursor: z.string().nullable(),
    }),
    run: async ({ engine: { store } }: Operations, { status, session, limit = 50, cursor }) => {
      const before = cursor === undefined ? undefined : Number(cursor);
      return store.read(async (db) => {
        const found = await listNotifications(db, { status, session, limit: limit + 1, before });
        const notifications = found.slice(0, limit);
        const nextCursor = found.length > limit ? notifications.at(-1)!.id : null;
        return { notifications, counts: await countNotifications(db), nextCursor };
      });
    },
  }),
  retry: operation(definitions.retry, {
    view: z.object({ notification: Notification }),
    run: (operations: Operations, { notificationId, keep }) =>
      changeProject(operations, { label: 'retry_notification', keep }, async (db) => ({
        notification: await retryNotification(db, notificationId),
      })),
  }),
  test: operation(definitions.test, {
    view: z.object({
      channel: z.enum([...CHANNELS, 'issue']),
      destination: z.string(),
      providerId: z.string().nullable(),
    }),
    run: async (operations: Operations, { channel, projectPath, keep }) => {
      const { environment, redactor } = operations;
      const notify = await notifyOf(operations, projectPath);
      const tried = await tryChannel(channel, { notify, environment, redactor });
      return changeProject(operations, { label: 'notify_test', keep }, async () => tried);
    },
  }),
  pair: operation(definitions.pair, {
    view: z.object({
      channel: z.enum(CHATS),
      code: z.string(),
      text: z.string().meta({ description: 'What to send to Pulse, from that service.' }),
    }),
    run: (operations: Operations, { channel, keep }) =>
      changeProject(operations, { label: 'chat_pair', keep }, async (db) => {
        const code = await makePairing(db, channel);
        return { channel, code, text: pairingText(channel, code) };
      }),
  }),
};

async function notifyOf({ git, home, environment }: Operations, projectPath: string | undefined) {
  if (projectPath === undefined) return (await loadConfig(null, environment)).values.notify ?? {};
  const project = await openRepository(git, projectPath);
  return (await loadTrustedConfig({ home, environment, project })).values.notify ?? {};
}
