/** Sessions with somebody to tell, and a courier that can be asked step by step. */
import { onTestFinished } from 'vitest';
import type { NotifySettings } from '../../src/domain/notify.ts';
import { createRedactor } from '../../src/domain/redact.ts';
import { createSenders } from '../../src/notify/channels/all.ts';
import { type CourierMeans, deliverDue } from '../../src/notify/courier.ts';
import { insertRoutes } from '../../src/notify/routes.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { appendEvents } from '../../src/store/events.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { openService, type Service } from './stand-in.ts';

const NOBODY: Record<'chat_id' | 'phone_number' | 'discord_thread_id', string | null> = {
  chat_id: null,
  phone_number: null,
  discord_thread_id: null,
};

export async function service(taken?: unknown): Promise<Service> {
  const opened = await openService(taken);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

let admitted = 0;

export async function routed(
  store: Store,
  notify: NotifySettings,
  named: Partial<typeof NOBODY> = {},
): Promise<string> {
  const id = await admit(store, {
    id: `ses_00000000-0000-7000-8000-${String(++admitted).padStart(12, '0')}`,
  });
  await store.tx('routes', (db) => insertRoutes(db, { id, ...NOBODY, ...named }, notify));
  return id;
}

export const say = (store: Store, id: string, ...details: string[]) =>
  store.tx('say', (db) =>
    appendEvents(
      db,
      id,
      details.map((detail) => ({ type: 'session.blocked' as const, data: { detail } })),
    ),
  );

export function courier(store: Store, environment: Record<string, string> = {}): CourierMeans {
  return {
    store,
    environment,
    redactor: createRedactor([]),
    senders: createSenders({
      runCommand: async () => ({ code: 0, output: '' }),
      runProgram: async () => ({ code: 0, output: '' }),
      platform: 'linux',
    }),
    owner: 'here',
    isGone: () => false,
    debug: () => undefined,
  };
}

export const deliver = (means: CourierMeans) => deliverDue(means, new AbortController().signal);
export const rows = (store: Store) =>
  store.read((db) =>
    withNotifyTables(db).selectFrom('notifications').selectAll().orderBy('number').execute(),
  );
/** Lets what waits for its time go now. */
export const hurry = (store: Store) =>
  store.tx('hurry', (db) => withNotifyTables(db).updateTable('notifications').set({ run_at: '' }).execute());
