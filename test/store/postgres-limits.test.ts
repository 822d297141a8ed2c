/** Nothing at PostgreSQL can hold Pulse up for ever: a silent holder of a lock, a connection that never answers. */
import { connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/engine/wake/clock.ts';
import { openPostgres } from '../../src/store/open-postgres.ts';
import { createPatientStore } from '../../src/store/patient.ts';
import { CommitUnknownError, type Db, type Store } from '../../src/store/store.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';

const SESSION = 'ses_of_the_test';

describe('PostgreSQL', () => {
  let server: SharedPostgres;
  let url: string;
  beforeAll(async () => {
    server = await sharePostgres();
    url = await server.createDatabase();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('gives a transaction up whose process fell silent, so that others get at the session', async () => {
    const frozen = await openPostgres({ url });
    const other = await openPostgres({ url });
    const begun = Promise.withResolvers<void>();
    const woken = Promise.withResolvers<void>();
    // As a process that is stopped inside a transaction: it holds the session's lock and says nothing.
    const silent = frozen.tx(
      'silent',
      async (db) => {
        begun.resolve();
        await woken.promise;
        await sql`SELECT 1`.execute(db);
      },
      { session: SESSION },
    );
    silent.catch(() => undefined);
    await begun.promise;
    const began = performance.now();
    await other
      .tx('abort', async () => undefined, { session: SESSION })
      .catch(async (error) => {
        expect(error).toMatchObject({ code: 'store_busy', retryable: true });
        await other.tx('abort', async () => undefined, { session: SESSION });
      });
    expect(performance.now() - began).toBeLessThan(20_000);
    woken.resolve();
    await expect(silent).rejects.toMatchObject({ code: 'store_unavailable', retryable: true });
    await Promise.all([frozen.close(), other.close()]);
  }, 40_000);

  it('answers for leases and other sessions while a stranger keeps one session locked', async () => {
    const store = await openPostgres({ url, connections: 2 });
    const stranger = new pg.Client({ connectionString: url });
    await stranger.connect();
    await stranger.query('BEGIN');
    await stranger.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [SESSION]);
    const waiting = [1, 2].map(() => store.tx('abort', async () => 'done', { session: SESSION }));
    for (const call of waiting) call.catch(() => undefined);
    const began = performance.now();
    expect(await store.tx('heartbeat', async () => 'kept', { isLease: true })).toBe('kept');
    // Those that wait for the session have all other connections until the server gives them up.
    expect(performance.now() - began).toBeLessThan(4_000);
    for (const call of waiting)
      await expect(call).rejects.toMatchObject({ code: 'store_busy', retryable: true });
    expect(await store.tx('other', async () => 'done', { session: 'ses_other' })).toBe('done');
    await stranger.end();
    await store.close();
  }, 40_000);

  it('counts a server as away that takes a query and never answers, and asks again over another connection', async () => {
    await using proxy = await startProxy(Number(new URL(url).port));
    const store = await openPostgres({ url: url.replace(/:\d+\//, `:${proxy.port}/`), queryTimeoutMs: 500 });
    const ask = () => store.read(async (db) => (await sql`SELECT 1 AS n`.execute(db)).rows);
    await ask();
    proxy.holdAnswers(true);
    const began = performance.now();
    await expect(ask()).rejects.toMatchObject({ code: 'store_unavailable', retryable: true });
    // Sooner than the server gives up a client that is silent.
    expect(performance.now() - began).toBeLessThan(5_000);
    proxy.holdAnswers(false);
    expect(await ask()).toEqual([{ n: 1 }]);
    await store.close();
  }, 40_000);

  it.each(['answer', 'call'] as const)('does a transaction once whose COMMIT lost its %s', async (lost) => {
    const own = await server.createDatabase();
    await using proxy = await startProxy(Number(new URL(own).port));
    const through = await openPostgres({ url: own.replace(/:\d+\//, `:${proxy.port}/`) });
    const plain = await openPostgres({ url: own });
    await plain.tx('prepare', async (db) => {
      await sql`CREATE TABLE counted (n integer)`.execute(db);
    });
    const patient = createPatientStore(through, {
      sleep: systemClock.sleep,
      elapsedMs: systemClock.elapsedMs,
      stop: () => new AbortController().signal,
    });
    let runs = 0;
    const count = async (db: Db) => {
      runs += 1;
      await sql`INSERT INTO counted VALUES (1)`.execute(db);
      return `run ${runs}`;
    };
    proxy.cutNextCommit(lost);
    expect(await patient.tx('count', count, { session: SESSION })).toBe(
      lost === 'answer' ? 'run 1' : 'run 2',
    );
    expect(await rowsOf(plain, 'counted')).toBe(1);
    // The answer to the question is lost too, and it is asked again.
    proxy.cutNextCommit(lost);
    proxy.cutAfterNext('COMMIT_MARKS');
    await patient.tx('count', count, { session: SESSION });
    expect(await rowsOf(plain, 'counted')).toBe(2);
    // Without patience it is said that nobody knows.
    proxy.cutNextCommit(lost);
    await expect(through.tx('count', count)).rejects.toBeInstanceOf(CommitUnknownError);
    // A small one has no mark by which it could be asked: it is not repeated, not with patience either.
    const before = await rowsOf(plain, 'counted');
    proxy.cutNextCommit(lost);
    await expect(patient.tx('count', count, { isSmall: true })).rejects.toMatchObject({
      code: 'store_unavailable',
      retryable: false,
    });
    expect((await rowsOf(plain, 'counted')) - before).toBe(lost === 'answer' ? 1 : 0);
    for (let index = 0; index < 10; index++) await through.tx('next', async () => undefined);
    await through.close();
    // Of both only what nobody knows the end of is left.
    expect(await rowsOf(plain, 'commit_marks')).toBeLessThanOrEqual(2);
    await plain.close();
  });
});

async function rowsOf(store: Store, table: string): Promise<number> {
  return store.read(async (db) => {
    const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table)}`.execute(db);
    return rows[0]!.n;
  });
}

interface Proxy extends AsyncDisposable {
  port: number;
  cutNextCommit(lost: 'answer' | 'call'): void;
  /** After the next COMMIT was cut, also the answer to the first statement that says this. */
  cutAfterNext(word: string): void;
  /** As a connection that is half open: what is said arrives, and nothing comes back. */
  holdAnswers(isHeld: boolean): void;
}

/** Passes everything to the server, and cuts the connection at a COMMIT when it is asked to. */
async function startProxy(serverPort: number): Promise<Proxy> {
  let cut: 'answer' | 'call' | null = null;
  let cutNext: string | null = null;
  let isHeld = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    let isDoomed = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.on('data', (chunk) => {
      const said = chunk.toString('latin1').toUpperCase();
      if (!cut && cutNext && said.includes(cutNext)) {
        cutNext = null;
        isDoomed = true;
      }
      if (cut && said.includes('COMMIT\0')) {
        isDoomed = cut === 'answer';
        const isLost = cut === 'call';
        cut = null;
        if (isLost) return void client.destroy();
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (isDoomed) client.destroy();
      else if (!isHeld) client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cutNextCommit: (lost) => {
      cut = lost;
    },
    cutAfterNext: (word) => {
      cutNext = word;
    },
    holdAnswers: (held) => {
      isHeld = held;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
