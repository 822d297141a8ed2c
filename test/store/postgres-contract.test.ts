import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest';
import { openPostgres } from '../../src/store/open-postgres.ts';
import type { Store } from '../../src/store/store.ts';
import { type Postgres, startPostgres } from '../fakes/postgres.ts';
import { storeContract } from './contract.ts';

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
});
