import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PulseError } from '../../src/domain/errors.ts';
import { createGroupCommit } from '../../src/store/group-commit.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Db, Store } from '../../src/store/store.ts';

describe('small transactions at once', () => {
  let folder: string;
  let store: Store;
  const commits: string[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pulse-group-'));
    store = await openSqlite({ path: join(folder, 'pulse.db'), onCommit: (label) => commits.push(label) });
    await store.tx(
      'make',
      async (db) => void (await sql`CREATE TABLE seen (n integer PRIMARY KEY)`.execute(db)),
    );
    commits.length = 0;
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const insert = (n: number) => async (db: Db) => {
    await sql`INSERT INTO seen VALUES (${n})`.execute(db);
    return n;
  };
  const small = <T>(work: (db: Db) => Promise<T>) => store.tx('small', work, { isSmall: true });
  const seen = (from = store) =>
    from.read(async (db) =>
      (await sql<{ n: number }>`SELECT n FROM seen ORDER BY n`.execute(db)).rows.map(({ n }) => n),
    );

  it('are all kept, each with its own answer, in the order they came', async () => {
    const order: number[] = [];
    const work = (n: number) => async (db: Db) => {
      order.push(n);
      return insert(n)(db);
    };
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    expect(await Promise.all(numbers.map((n) => small(work(n))))).toEqual(numbers);
    expect(order).toEqual(numbers);
    expect(await seen()).toEqual(numbers);
    expect(commits).toHaveLength(100);
  });

  it('that fail take nothing with them, and leave nothing behind', async () => {
    const failing = (n: number) => async (db: Db) => {
      await insert(n)(db);
      throw new Error(`no ${n}`);
    };
    const twice = async (db: Db) => {
      await insert(5)(db);
      await insert(1)(db);
    };
    const answers = await Promise.allSettled([
      small(insert(1)),
      small(failing(2)),
      small(insert(3)),
      small(twice),
      small(insert(4)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect((answers[1] as PromiseRejectedResult).reason.message).toBe('no 2');
    expect(await seen()).toEqual([1, 3, 4]);
    expect(await small(insert(6))).toBe(6);
  });

  it('are not answered before they are durable, and wait for no disk of their own', async () => {
    await using other = Object.assign(await openSqlite({ path: join(folder, 'pulse.db') }), {
      [Symbol.asyncDispose]: () => other.close(),
    });
    const began: number[] = [];
    let groups = 0;
    const watched = (n: number) => async (db: Db) => {
      // A second connection sees nothing of a group before its commit.
      if ((await seen(other)).length === began.length) groups++;
      began.push(n);
      return insert(n)(db);
    };
    const answered = await Promise.all(
      [1, 2, 3].map(async (n) => {
        await small(watched(n));
        return seen(other);
      }),
    );
    for (const numbers of answered) expect(numbers).toEqual([1, 2, 3]);
    expect(groups).toBe(1);
  });

  it('that only fail at the commit take nothing with them either', async () => {
    await store.tx('make', async (db) => {
      await sql`CREATE TABLE child (n integer REFERENCES seen (n) DEFERRABLE INITIALLY DEFERRED)`.execute(db);
    });
    const orphan = async (db: Db) => void (await sql`INSERT INTO child VALUES (99)`.execute(db));
    const answers = await Promise.allSettled([small(insert(1)), small(orphan), small(insert(2))]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await seen()).toEqual([1, 2]);
  });

  it('are not repeated when nobody knows whether they were kept', async () => {
    let runs = 0;
    const group = createGroupCommit(async (work) => {
      await work(undefined as unknown as Db);
      throw new PulseError('store_unavailable', 'The answer was lost.');
    });
    const count = async () => void runs++;
    const answers = await Promise.allSettled([group(count), group(count)]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(runs).toBe(2);
  });

  it('go between the others without holding them up', async () => {
    const mixed = Array.from({ length: 60 }, (_, n) =>
      n % 3 === 0 ? store.tx('big', insert(n)) : small(insert(n)),
    );
    await Promise.all(mixed);
    expect(await seen()).toHaveLength(60);
  });
});
