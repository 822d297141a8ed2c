import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEvents } from '../../src/store/events.ts';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { getControl, getSession, listSessions, updateControl } from '../../src/store/sessions.ts';
import { createRetryBusy } from '../../src/store/sqlite-dialect.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { sessionId } from './rows.ts';

describe('SQLite between processes', () => {
  let folder: string;
  let path: string;
  let stores: Store[] = [];
  let children: ChildProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pulse-store-'));
    path = join(folder, 'state', 'pulse.db');
  });

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    children = [];
    await Promise.all(stores.map((store) => store.close()));
    stores = [];
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(): Promise<Store> {
    const store = await openSqlite({ path });
    stores.push(store);
    return store;
  }

  function start(script: string, ...args: string[]): ChildProcess {
    const child = fork(join(import.meta.dirname, 'fixtures', script), args, {
      stdio: 'inherit',
      execArgv: [],
    });
    children.push(child);
    return child;
  }

  it('lets thirty open a fresh path at once, migrates it once and loses nothing', {
    timeout: 120_000,
  }, async () => {
    const writers = Array.from({ length: 30 }, (_, who) => start('writer.ts', path, String(who + 1), '20'));
    await Promise.all(writers.map((writer) => once(writer, 'message')));
    const reports = writers.map((writer) => once(writer, 'message').then(([report]) => report));
    for (const writer of writers) writer.send('go');
    expect(await Promise.all(reports)).toEqual(writers.map(() => ({ ok: true })));

    const store = await open();
    const sessions = await store.read((db) => listSessions(db, { limit: 1000 }));
    expect(sessions).toHaveLength(600);
    for (const { id } of sessions) {
      const events = await store.read((db) => readEvents(db, id));
      expect(events.map(({ seq }) => seq)).toEqual([1, 2]);
    }
    using raw = disposable(new DatabaseSync(path));
    expect(raw.value.prepare('PRAGMA user_version').get()).toEqual({ user_version: MIGRATIONS.length });
    expect(raw.value.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  it('loses only the open transaction of a process that is killed', async () => {
    const child = start('halfway.ts', path);
    await once(child, 'message');
    const reader = await open();
    expect((await reader.read((db) => getSession(db, sessionId(1)))).spent_usd).toBe(0);
    const killed = once(child, 'exit');
    child.kill('SIGKILL');
    await killed;
    const store = await open();
    expect((await store.read((db) => getSession(db, sessionId(1)))).spent_usd).toBe(0);
    expect((await store.read((db) => getControl(db, sessionId(1)))).answer).toBeNull();
    await store.tx('test', (db) => updateControl(db, sessionId(1), { answer: 'said' }));
    expect((await store.read((db) => getControl(db, sessionId(1)))).answer).toBe('said');
  });

  it('gives up after its time, with an error that says what to do', async () => {
    const giveUp = createRetryBusy(undefined, 100);
    const locked = () => {
      throw Object.assign(new Error('database is locked'), { errcode: 5 });
    };
    await expect(giveUp(locked)).rejects.toMatchObject({ code: 'store_busy', retryable: true });
  });

  it('never lets a reader wait for a writer', async () => {
    const writer = await open();
    await admit(writer, { id: sessionId(1) });
    const reader = await open();
    const inside = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const writing = writer.tx('test', async (db) => {
      await updateControl(db, sessionId(1), { answer: 'new' });
      inside.resolve();
      await goOn.promise;
    });
    await inside.promise;
    const began = performance.now();
    const seen = await reader.read((db) => getControl(db, sessionId(1)));
    expect(performance.now() - began).toBeLessThan(1000);
    expect(seen.answer).toBeNull();
    goOn.resolve();
    await writing;
    expect((await reader.read((db) => getControl(db, sessionId(1)))).answer).toBe('new');
  });

  it('keeps the snapshot of a read while others write', async () => {
    const reader = await open();
    await admit(reader, { id: sessionId(1) });
    const writer = await open();
    const answers = await reader.read(async (db) => {
      const before = (await getControl(db, sessionId(1))).answer;
      await writer.tx('test', (other) => updateControl(other, sessionId(1), { answer: 'new' }));
      return [before, (await getControl(db, sessionId(1))).answer];
    });
    expect(answers).toEqual([null, null]);
  });

  it('makes a second writer wait for its turn, without an error', async () => {
    const one = await open();
    await admit(one, { id: sessionId(1) });
    const two = await open();
    const order: string[] = [];
    const inside = Promise.withResolvers<void>();
    const first = one.tx('first', async () => {
      inside.resolve();
      await new Promise((resolve) => setTimeout(resolve, 300));
      order.push('first');
    });
    await inside.promise;
    await two.tx('second', async () => void order.push('second'));
    await first;
    expect(order).toEqual(['first', 'second']);
  });
});

function disposable(value: DatabaseSync) {
  return { value, [Symbol.dispose]: () => value.close() };
}
