import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PulseError } from '../../src/domain/errors.ts';
import { appendEvents, readEvents } from '../../src/store/events.ts';
import { readFigures } from '../../src/store/figures.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { addSpending, getSession, listSessions } from '../../src/store/sessions.ts';
import { isUniqueViolation, storeError } from '../../src/store/sqlite-errors.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { sessionId } from './rows.ts';

let folder: string;
let path: string;
let stores: Store[] = [];
let disks: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pulse-store-'));
  path = join(folder, 'pulse.db');
});

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  stores = [];
  for (const disk of disks) execFileSync('umount', [disk]);
  disks = [];
  rmSync(folder, { recursive: true, force: true });
});

async function open(at = path): Promise<Store> {
  const store = await openSqlite({ path: at });
  stores.push(store);
  return store;
}

/** A raw look at a database, as any other program has it. */
function raw<T>(work: (database: DatabaseSync) => T, at = path): T {
  const database = new DatabaseSync(at);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

async function refusal(opening: Promise<Store>): Promise<PulseError> {
  const error = await opening.then(
    (store) => {
      stores.push(store);
      return null;
    },
    (thrown: unknown) => thrown as PulseError,
  );
  expect(error, 'it was opened').not.toBeNull();
  expect(error!.hint).toBeTruthy();
  return error!;
}

describe('opening SQLite', () => {
  it('writes ahead and syncs in full', async () => {
    const store = await open();
    const pragma = async (name: string) =>
      Object.values((await store.read((db) => sql.raw(`PRAGMA ${name}`).execute(db))).rows[0] as object)[0];
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('synchronous')).toBe(2);
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('application_id')).toBe(0x504c5345);
  });

  it('finds everything again, and leaves one file once closed', async () => {
    const store = await open();
    await admit(store, { id: sessionId(1) });
    await store.close();
    expect(readdirSync(folder)).toEqual(['pulse.db']);
    const again = await open();
    expect(await again.read((db) => listSessions(db, {}))).toHaveLength(1);
  });

  it('closes a store that was never used, and may be closed twice', async () => {
    const store = await open();
    await store.close();
    await store.close();
    expect(readdirSync(folder)).toEqual(['pulse.db']);
  });

  it('makes the state directory for its owner alone', async () => {
    const at = join(folder, 'deep', 'er', 'pulse.db');
    await open(at);
    expect(existsSync(at)).toBe(true);
    expect(
      execFileSync('stat', ['-c', '%a', join(folder, 'deep', 'er')])
        .toString()
        .trim(),
    ).toBe('700');
  });

  it('names each transaction once it is durable, and no other', async () => {
    const labels: string[] = [];
    const store = await openSqlite({ path, onCommit: (label) => labels.push(label) });
    stores.push(store);
    await admit(store, { id: sessionId(1) });
    await expect(store.tx('broken', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await store.read((db) => listSessions(db, {}));
    expect(labels).toEqual(['admit']);
  });

  it('refuses a database that a newer Pulse wrote, and leaves it alone', async () => {
    await (await open()).close();
    raw((database) => database.exec('PRAGMA user_version = 999'));
    const before = readFileSync(path);
    const error = await refusal(openSqlite({ path }));
    expect(error.code).toBe('store_newer');
    expect(error.message).toContain('999');
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(['pulse.db']);
  });

  it.each([
    ['with tables of its own', 'CREATE TABLE notes (text)'],
    ['with an id of its own', 'PRAGMA application_id = 7; PRAGMA user_version = 3'],
  ])('refuses the database of another program %s, and leaves it alone', async (_, statement) => {
    raw((database) => database.exec(statement));
    const before = readFileSync(path);
    expect((await refusal(openSqlite({ path }))).code).toBe('store_corrupt');
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(['pulse.db']);
  });

  it('refuses a file that is no database, and leaves it alone', async () => {
    writeFileSync(path, 'this is a letter to my aunt\n'.repeat(200));
    const before = readFileSync(path);
    expect((await refusal(openSqlite({ path }))).code).toBe('store_corrupt');
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(['pulse.db']);
  });

  it('says that a damaged database is damaged', async () => {
    const store = await open();
    for (let number = 1; number <= 50; number++) await admit(store, { id: sessionId(number) });
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0xab, 4096, bytes.length);
    writeFileSync(path, bytes);
    const error = await open()
      .then((damaged) => damaged.read((db) => listSessions(db, {})))
      .then(
        () => null,
        (thrown: unknown) => thrown as PulseError,
      );
    expect(error?.code).toBe('store_corrupt');
  });

  it('refuses a path whose folder cannot be made, and makes none of it', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect((await refusal(openSqlite({ path: join(folder, 'file', 'state', 'pulse.db') }))).code).toBe(
      'store_unavailable',
    );
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('refuses a path that is a folder', async () => {
    mkdirSync(path);
    expect((await refusal(openSqlite({ path }))).code).toBe('store_unavailable');
    expect(readdirSync(path)).toEqual([]);
  });
});

describe('a store in trouble', () => {
  it('says that the disk is full, keeps what it has, and works again once there is room', async () => {
    const store = await open(join(smallDisk('size=1m'), 'pulse.db'));
    await admit(store, { id: sessionId(1) });
    const text = 'x'.repeat(20_000);
    const append = () =>
      store.tx('test', (db) => appendEvents(db, sessionId(1), [{ type: 'agent.text', data: { text } }]));
    let count = 1;
    const full = await fillUntilError(async () => {
      await append();
      count += 1;
    });
    expect(full).toMatchObject({ code: 'disk_full', retryable: true });
    expect(await store.read((db) => readEvents(db, sessionId(1)))).toHaveLength(count);
    expect((await store.read((db) => getSession(db, sessionId(1)))).goal).toBe('goal');

    execFileSync('mount', ['-o', 'remount,size=8m', join(folder, 'disk')]);
    await append();
    const events = await store.read((db) => readEvents(db, sessionId(1)));
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: count + 1 }, (_, i) => i + 1));
  });

  it('says that it cannot be written when its disk is read-only', async () => {
    const disk = smallDisk('size=4m');
    const store = await openSqlite({ path: join(disk, 'pulse.db') });
    await admit(store, { id: sessionId(1) });
    await store.close();
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const failing = openSqlite({ path: join(disk, 'pulse.db') }).then(async (opened) => {
      stores.push(opened);
      await admit(opened, { id: sessionId(2) });
    });
    const error = await failing.then(
      () => null,
      (thrown: unknown) => thrown as PulseError,
    );
    expect(['store_read_only', 'store_unavailable']).toContain(error?.code);
    expect(error?.hint).toContain('PULSE_HOME');
  });

  it('cannot be made on a read-only disk, and says where it would have been', async () => {
    const disk = smallDisk('size=1m,ro');
    const error = await refusal(openSqlite({ path: join(disk, 'state', 'pulse.db') }));
    expect(error.code).toBe('store_unavailable');
    expect(error.message).toContain(join(disk, 'state'));
  });

  it.each([
    [5, 'store_busy'],
    [6, 'store_busy'],
    [8, 'store_read_only'],
    [10 | (1 << 8), 'store_unavailable'],
    [11, 'store_corrupt'],
    [13, 'disk_full'],
    [14, 'store_unavailable'],
    [26, 'store_corrupt'],
  ])('calls SQLite error %i %s', (errcode, code) => {
    expect(storeError({ errcode })).toMatchObject({ code });
  });

  it('leaves what is not trouble of the disk as it is', async () => {
    const mistake = new TypeError('no');
    expect(storeError(mistake)).toBe(mistake);
    const store = await open();
    await admit(store, { id: sessionId(1) });
    const twice = await admit(store, { id: sessionId(1) }).catch((error: unknown) => error);
    expect(isUniqueViolation(twice)).toBe(true);
  });
});

/** A tmpfs of its own, taken away when the test ends. Needs root, as the test machine's runner is. */
function smallDisk(options: string): string {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]);
  disks.push(disk);
  return disk;
}

async function fillUntilError(step: () => Promise<void>): Promise<unknown> {
  for (let round = 0; round < 500; round++) {
    try {
      await step();
    } catch (error) {
      return error;
    }
  }
  throw new Error('the disk was never full');
}

describe('a number beyond what JavaScript can hold', () => {
  const TOO_LARGE = 2n ** 60n;

  it('in one row does not make the others unreadable, and is told as the largest', async () => {
    const store = await open();
    for (const n of [1, 2]) await admit(store, { id: sessionId(n) });
    const spoil = 'UPDATE pulse_sessions SET total_tokens_used = ? WHERE id = ?';
    raw((database) => database.prepare(spoil).run(TOO_LARGE, sessionId(1)));
    expect(await store.read((db) => getSession(db, sessionId(1)))).toMatchObject({
      total_tokens_used: Number.MAX_SAFE_INTEGER,
    });
    expect(await store.read((db) => listSessions(db, {}))).toHaveLength(2);
    expect((await store.read((db) => readFigures(db))).tokens).toBeGreaterThan(1e18);
    await store.tx('test', (db) => addSpending(db, sessionId(1), { costUsd: 0, tokens: 1 }));
    expect(
      raw((database) =>
        database.prepare('SELECT total_tokens_used AS n FROM pulse_sessions ORDER BY id').get(),
      ),
    ).toEqual({
      n: Number.MAX_SAFE_INTEGER,
    });
  });

  it('that a change returns is read once, so that the change is made once', async () => {
    const store = await open();
    await admit(store, { id: sessionId(1) });
    raw((database) => database.prepare('UPDATE pulse_sessions SET total_tokens_used = ?').run(TOO_LARGE));
    const [row] = await store.tx('test', (db) =>
      db
        .updateTable('pulse_sessions')
        .set({ total_commits: sql<number>`total_commits + 1` })
        .returning(['total_commits', 'total_tokens_used'])
        .execute(),
    );
    expect(row).toEqual({ total_commits: 1, total_tokens_used: Number.MAX_SAFE_INTEGER });
  });
});
