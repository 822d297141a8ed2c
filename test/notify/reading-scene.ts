/** A reader, a session that waits, and actions that only note what they were asked to do. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Channel } from '../../src/domain/channels.ts';
import type { NotifySettings } from '../../src/domain/notify.ts';
import type { ChatActions, ChatCaller } from '../../src/notify/inbound/answer.ts';
import type { ChatMeans, SettingsOf } from '../../src/notify/inbound/chats.ts';
import { type Reader, readChannel } from '../../src/notify/inbound/reader.ts';
import { notifyTables } from '../../src/notify/tables.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { routed, say } from './outbox-scene.ts';

export async function openFileStore(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-reading-'));
  const store = await openSqlite({ path: join(folder, 'pulse.db'), modules: [notifyTables] });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
}

/** A session that asks. */
export async function blocked(store: Store, notify: NotifySettings, named: object = {}): Promise<string> {
  const id = await routed(store, notify, named);
  await ask(store, id, 'Why?');
  return id;
}

export async function ask(store: Store, id: string, question: string): Promise<void> {
  await say(store, id, question);
  await store.tx('block', (db) =>
    db.updateTable('pulse_sessions').set({ status: 'blocked' }).where('id', '=', id).execute(),
  );
}

/** As if all that has happened so far had happened earlier. */
export const age = (store: Store, ms: number) =>
  store.tx('age', async (db) => {
    const at = new Date(Date.now() - ms).toISOString();
    await db.updateTable('pulse_events').set({ at }).execute();
    await db
      .withTables<{ notifications: { created_at: string } }>()
      .updateTable('notifications')
      .set({ created_at: at })
      .execute();
  });

export interface Noted {
  actions: ChatActions;
  did: string[];
  /** What the next actions throw. */
  failures: Error[];
}

export function noting(store: Store): Noted {
  const did: string[] = [];
  const failures: Error[] = [];
  const note = async (words: string, by: ChatCaller, id?: string): Promise<string> => {
    const failure = failures.shift();
    if (failure) throw failure;
    await store.tx('test', (db) => by.within(db, id));
    did.push(`${by.actor} ${words}`);
    return 'Done.';
  };
  const actions: ChatActions = {
    start: (project, goal, by) => note(`start ${project} ${goal}`, by),
    pause: (id, by) => note(`pause ${id}`, by),
    abort: (id, by) => note(`abort ${id}`, by),
    answer: (id, text, by) => note(`answer ${text}`, by, id),
    status: async () => 'All is well.',
    details: async () => 'No details.',
  };
  return { actions, did, failures };
}

interface ReadOptions {
  store: Store;
  notify: NotifySettings;
  environment: Record<string, string>;
  actions: ChatActions;
  lookMs?: number;
}

export function meansOf({
  store,
  notify,
  environment,
  actions,
}: ReadOptions): ChatMeans & { said: string[] } {
  const said: string[] = [];
  return {
    ...{ store, notify, environment, actions, owner: 'here', isGone: () => false, said },
    say: (text: string) => void said.push(text),
  };
}

/** Reads until the test is over. Returns what it said on its terminal. */
export function reading<C extends keyof SettingsOf & Channel>(
  reader: Reader<C>,
  options: ReadOptions,
): string[] {
  const means = meansOf(options);
  const ending = new AbortController();
  const over = readChannel(means, reader, { signal: ending.signal, lookMs: options.lookMs ?? 100 });
  onTestFinished(async () => {
    ending.abort();
    await over;
  });
  return means.said;
}
