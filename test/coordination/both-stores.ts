/** The same tests on SQLite and PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { coordinationTables } from '../../src/coordination/tables.ts';
import { beadTables } from '../../src/loops/beads/table-module.ts';
import { notifyTables } from '../../src/notify/tables.ts';
import { openPostgres } from '../../src/store/open-postgres.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { sharePostgres } from '../fakes/shared-postgres.ts';

export const ids = { nowMs: Date.now, randomBytes };

/** Where a test's database is: `PULSE_DATABASE_URL`, or a file. */
export interface Place {
  url?: string;
  path: string;
}

/** `open` gives a handle on the test's own database; `place` says where that is. */
export function onBothStores(tests: (open: () => Promise<Store>, place: () => Promise<Place>) => void): void {
  describe.each(['SQLite', 'PostgreSQL'])('on %s', (name) => {
    let server: Awaited<ReturnType<typeof sharePostgres>> | undefined;
    let here: Promise<Place> | null = null;
    let stores: Store[] = [];
    const folders: string[] = [];

    beforeAll(async () => {
      if (name === 'PostgreSQL') server = await sharePostgres();
    });
    afterAll(() => server?.[Symbol.asyncDispose]());
    afterEach(async () => {
      await Promise.all(stores.map((store) => store.close()));
      stores = [];
      here = null;
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    });

    function place(): Promise<Place> {
      here ??= (async () => {
        folders.push(mkdtempSync(join(tmpdir(), 'pulse-coordination-')));
        const path = join(folders.at(-1)!, 'pulse.db');
        return server ? { url: await server.createDatabase(), path } : { path };
      })();
      return here;
    }

    tests(async () => {
      const { url, path } = await place();
      const modules = [coordinationTables, notifyTables, beadTables];
      const store = await (url
        ? openPostgres({ url, modules, connections: 4 })
        : openSqlite({ path, modules }));
      stores.push(store);
      return store;
    }, place);
  });
}
