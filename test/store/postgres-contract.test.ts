import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPostgres } from '../../src/store/open-postgres.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { type Postgres, startPostgres } from '../fakes/postgres.ts';
import { storeContract } from './contract.ts';
import { sessionId } from './rows.ts';

describe('PostgreSQL', () => {
  let server: Postgres;
  let schema: string;
  let stores: Store[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  beforeEach(() => {
    schema = `test_${randomBytes(6).toString('hex')}`;
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    stores = [];
  });

  storeContract('PostgreSQL', async () => {
    const store = await openPostgres({ url: server.url, schema, connections: 4 });
    stores.push(store);
    return store;
  });

  it('does not wait, where asked not to, for whoever is at work on the session or on one of its family', async () => {
    const store = await openPostgres({ url: server.url, schema, connections: 4 });
    stores.push(store);
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
});
