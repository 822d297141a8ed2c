import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAgentLog } from '../../src/engine/attempt/agent-log.ts';
import { systemClock } from '../../src/engine/wake/clock.ts';
import { readEvents } from '../../src/store/events.ts';
import { claimTask, insertTask } from '../../src/store/inbox.ts';
import { openPostgres } from '../../src/store/open-postgres.ts';
import { getSession } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { storeContract } from './contract.ts';
import { newTask, sessionId } from './rows.ts';

describe('PostgreSQL', () => {
  let server: SharedPostgres;
  let url: string;
  let stores: Store[] = [];

  beforeAll(async () => {
    server = await sharePostgres();
  });
  // A database for each test, and each that goes waits for a checkpoint: on a busy machine that takes a minute.
  afterAll(() => server[Symbol.asyncDispose](), 180_000);

  beforeEach(async () => {
    url = await server.createDatabase();
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    stores = [];
  });

  async function open(schema?: string): Promise<Store> {
    const store = await openPostgres({ url, schema, connections: 4 });
    stores.push(store);
    return store;
  }

  storeContract('PostgreSQL', () => open());

  it('keeps to a schema of its own where it is given one', async () => {
    const [plain, apart] = [await open(), await open('apart')];
    await admit(apart, { id: sessionId(1) });
    const ids = (store: Store) => store.read((db) => db.selectFrom('pulse_sessions').select('id').execute());
    expect(await ids(plain)).toEqual([]);
    expect(await ids(apart)).toEqual([{ id: sessionId(1) }]);
  });

  it('does not wait, where asked not to, for whoever is at work on the session or on one of its family', async () => {
    const store = await open();
    const lead = await admit(store, { id: sessionId(1) });
    const worker = await admit(store, { id: sessionId(2), parent_session_id: lead });
    const impatient = (session: string) =>
      store.tx('claim', async () => 'done', { session, isImpatient: true });
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const slow = store.tx(
      'settle',
      async () => {
        begun.resolve();
        await over.promise;
      },
      { session: worker },
    );
    await begun.promise;
    for (const session of [lead, worker])
      await expect(impatient(session)).rejects.toMatchObject({ code: 'store_busy' });
    expect(await impatient(sessionId(3))).toBe('done');
    over.resolve();
    await slow;
    expect(await impatient(lead)).toBe('done');
  });

  it('takes what an agent says while another of its family is at work', async () => {
    const store = await open();
    const lead = await admit(store, { id: sessionId(1) });
    const worker = await admit(store, { id: sessionId(2), parent_session_id: lead });
    const task = await store.tx('begin', async (db) => {
      await insertTask(db, newTask(worker, 1));
      return (await claimTask(db, { owner: 'a', leaseMs: 60_000, sessionId: worker }))!;
    });
    const written = Promise.withResolvers<void>();
    using log = createAgentLog({
      store,
      task,
      clock: systemClock,
      onWritten: written.resolve,
      onFenced: written.reject,
    });
    const begun = Promise.withResolvers<void>();
    const atWork = store.tx(
      'settle',
      async () => {
        begun.resolve();
        await written.promise;
      },
      { session: lead },
    );
    await begun.promise;
    log.event({ type: 'agent.text', data: { text: 'said' } });
    log.spent({ costUsd: 0.5, tokens: 10 });
    await atWork;
    const { events, purse } = await store.read(async (db) => ({
      events: await readEvents(db, worker, { after: 1 }),
      purse: await getSession(db, lead),
    }));
    expect(events.map(({ data }) => data.text)).toEqual(['said']);
    expect(purse.spent_usd).toBe(0.5);
  });
});
