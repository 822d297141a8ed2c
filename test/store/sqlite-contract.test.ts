import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe } from 'vitest';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { storeContract } from './contract.ts';

describe('SQLite', () => {
  let folder: string;
  let stores: Store[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pulse-store-'));
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    stores = [];
    rmSync(folder, { recursive: true, force: true });
  });

  storeContract('a SQLite file', async () => {
    const store = await openSqlite({ path: join(folder, 'pulse.db') });
    stores.push(store);
    return store;
  });

  /** Only one handle can see a database in memory: everybody shares it. */
  storeContract('SQLite in memory', async () => {
    stores[0] ??= await openSqlite({ path: ':memory:' });
    return stores[0];
  });
});
