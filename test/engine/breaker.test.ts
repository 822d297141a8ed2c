/** A service that fails for one session is left alone by all of them, and tried again by one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { breakerKey } from '../../src/domain/breaker.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { findBreaker, recordServiceFailure } from '../../src/store/breakers.ts';
import { openStore } from '../../src/store/open.ts';
import { NO_RETRIES, type RetryCounters, updateControl } from '../../src/store/sessions.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { until } from '../e2e/scene.ts';
import { createScratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';

const FAILS = { type: 'done', ok: false, failure: 'overloaded', message: 'The service is overloaded.' };
const WORKS = { type: 'text', text: 'Did it.\n<signal>COMPLETE</signal>' };
const ANSWERS = [WORKS, { type: 'done', ok: true }];
const TIMING = { pollMs: 50, quietPollMs: 50 };

interface Place {
  environment: NodeJS.ProcessEnv;
  pulse: Pulse;
  store: Store;
  key: string;
  /** What the agent does from now on. */
  plays(...events: object[]): void;
  start(): Promise<string>;
  /** Drives it in the background, until the returned function is called or it stops. */
  drive(id: string, pulse?: Pulse): { ended: Promise<unknown>; leave(): Promise<unknown> };
  types(id: string): Promise<string[]>;
}

async function makePlace(url: string | undefined): Promise<Place> {
  const scratch = createScratch();
  const environment = { ...scratch.environment, PULSE_DATABASE_URL: url, PULSE_REPLAY_SPEED: '0' };
  const pulse = await createPulse({ environment, timing: TIMING });
  const { store } = await openStore({ url, path: pulse.home.database });
  onTestFinished(async () => {
    await store.close();
    await pulse[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  });
  const recording = join(scratch.path, 'played.jsonl');
  return {
    environment,
    pulse,
    store,
    key: breakerKey({ agent: 'replay', command: recording, model: null }),
    plays(...events) {
      const header = { type: 'recording', version: 1, agent: 'test', at: '' };
      const lines = [header, ...events.map((event) => ({ atMs: 0, event }))].map((line) =>
        JSON.stringify(line),
      );
      writeFileSync(recording, `${lines.join('\n')}\n`);
    },
    async start() {
      const { session } = await pulse.start({
        ...{ goal: 'g', path: scratch.repository, createdBy: 'cli' as const },
        ...{ agent: 'replay', command: recording },
      });
      return session.id;
    },
    drive(id, by = pulse) {
      const stop = new AbortController();
      const ended = by.run(id, stop.signal);
      return {
        ended,
        leave() {
          stop.abort();
          return ended;
        },
      };
    },
    types: async (id) => (await pulse.export(id)).events.map(({ type }) => type),
  };
}

/** As of a session that nobody has asked for just now. */
function counted({ store }: Place, id: string, counters: Partial<RetryCounters>): Promise<void> {
  return store.tx('test', (db) => updateControl(db, id, { counters: { ...NO_RETRIES, ...counters } }));
}

/** As if the wait of all of them were over. */
async function makeDue({ store, key }: Place, ids: readonly string[]): Promise<void> {
  await store.tx('test', async (db) => {
    await db.updateTable('agent_breakers').set({ retry_at: storeNow() }).where('key', '=', key).execute();
    await db
      .updateTable('inbox_tasks')
      .set({ run_at: storeNow() })
      .where('session_id', 'in', ids)
      .where('status', '=', 'pending')
      .execute();
  });
}

describe.each(['SQLite', 'PostgreSQL'])(
  'the breaker of an agent’s service on %s',
  { timeout: 60_000 },
  (name) => {
    let postgres: SharedPostgres | null = null;
    beforeAll(async () => {
      postgres = name === 'PostgreSQL' ? await sharePostgres() : null;
    }, 60_000);
    afterAll(() => postgres?.[Symbol.asyncDispose]());
    const openPlace = async () => makePlace(await postgres?.createDatabase());

    it('opens when a session has used up its quick retries, and that one waits on; another waits, and says so', async () => {
      const place = await openPlace();
      const { pulse, store, key, plays, start, drive, types } = place;
      plays(FAILS);
      const first = await start();
      await counted(place, first, { service: 5, serviceWaitMs: 62_000 });
      const failing = drive(first);
      await until('it waits', async () => (await types(first)).includes('iteration.retried'));
      expect(await store.read((db) => findBreaker(db, key))).toMatchObject({ state: 'open', trips: 1 });
      const { session, waiting: wait } = await pulse.show(first);
      expect(session).toMatchObject({ status: 'running', stop_reason: null });
      expect(wait).toMatchObject({ agent: 'replay', failureClass: 'overloaded', until: session.resume_at });
      expect(wait?.patienceMs).toBe(6 * 3_600_000);
      await failing.leave();

      plays(...ANSWERS);
      const second = await start();
      await counted(place, second, {});
      const waiting = drive(second);
      await until('it waits', async () => (await types(second)).includes('agent.waiting'));
      const { retry_at: retryAt } = (await store.read((db) => findBreaker(db, key)))!;
      expect(await pulse.session(second)).toMatchObject({ status: 'running', resume_at: retryAt });
      expect((await pulse.export(second)).events.at(-1)).toMatchObject({
        type: 'agent.waiting',
        data: { agent: 'replay', failureClass: 'overloaded', until: retryAt, patienceMs: 6 * 3_600_000 },
      });
      await waiting.leave();
      expect(await types(second)).not.toContain('iteration.started');
    });

    it('does not keep a person waiting: what is started or resumed tries at once, and waits on its own account', async () => {
      const place = await openPlace();
      const { pulse, store, key, plays, start, drive, types } = place;
      await store.tx('test', (db) => recordServiceFailure(db, key, 'given_up', 'overloaded'));
      plays(FAILS);
      const first = await start();
      const failing = drive(first);
      await until('it has tried', async () => (await types(first)).includes('iteration.retried'));
      expect(await types(first)).not.toContain('agent.waiting');
      // The one probe was its own: the second try finds the breaker in its way.
      await until('it waits', async () => (await types(first)).includes('agent.waiting'));
      await failing.leave();

      plays(...ANSWERS);
      await pulse.pause(first, { actor: 'test', now: true });
      await pulse.resume(first, { actor: 'test' });
      await drive(first).ended;
      expect(await pulse.session(first)).toMatchObject({ status: 'complete' });
      expect(await store.read((db) => findBreaker(db, key))).toBeNull();
    });

    it('lets a session through that has waited as long as it may: its own try decides', async () => {
      const place = await openPlace();
      const { pulse, store, key, plays, start, drive } = place;
      await store.tx('test', (db) => recordServiceFailure(db, key, 'given_up', 'overloaded'));
      plays(FAILS);
      const id = await start();
      await counted(place, id, { service: 9, serviceWaitMs: 6 * 3_600_000 });
      await drive(id).ended;
      expect(await pulse.session(id)).toMatchObject({
        status: 'blocked',
        stop_reason: 'service_unavailable',
      });
    });

    it('lets one of several sessions through when it is due, also after a restart; its answer frees the rest', async () => {
      const place = await openPlace();
      const { pulse, environment, store, key, plays, start, drive, types } = place;
      await store.tx('test', (db) => recordServiceFailure(db, key, 'given_up', 'network'));
      plays(...ANSWERS);
      const ids = [await start(), await start(), await start()];
      for (const id of ids) await counted(place, id, {});
      const isWaiting = async (id: string) => (await types(id)).includes('agent.waiting');
      const before = ids.map((id) => drive(id));
      for (const id of ids) await until(`${id} waits`, () => isWaiting(id));
      for (const { leave } of before) await leave();

      // The same sessions, driven by another process's Pulse: what they wait for is in the store.
      await using again = await createPulse({ environment, timing: TIMING });
      plays(FAILS);
      await makeDue(place, ids);
      const after = ids.map((id) => drive(id, again));
      const started = async () => {
        const all = await Promise.all(ids.map(types));
        return all.flat().filter((type) => type === 'iteration.started').length;
      };
      await until('one has failed again', async () => {
        const breaker = await store.read((db) => findBreaker(db, key));
        return breaker?.trips === 2;
      });
      expect(await started()).toBe(1);

      plays(...ANSWERS);
      await makeDue(place, ids);
      await until('one is through', async () => (await store.read((db) => findBreaker(db, key))) === null);
      await makeDue(place, ids);
      await Promise.all(after.map(({ ended }) => ended));
      for (const id of ids) expect(await pulse.session(id)).toMatchObject({ status: 'complete' });
    });
  },
);
