/** Thirty processes at once, some of which are killed: no file is ever held by two, and no grant is half there. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listReservations } from '../../src/coordination/reservations/held.ts';
import { endReservations } from '../../src/coordination/reservations/reservations.ts';
import { withCoordinationTables } from '../../src/coordination/tables.ts';
import type { Store } from '../../src/store/store.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { onBothStores } from './both-stores.ts';

const RESERVER = (await bundlePackage())('test/coordination/fixtures/reserver.ts');
const COUNT = 30;
const KILLED = 8;
const WORK_MS = 4_000;

interface Found {
  grants: number;
  refusals: number;
  doubled: string[];
}

onBothStores((open, place) => {
  let marks: string;
  let children: ChildProcess[] = [];
  beforeEach(() => {
    marks = mkdtempSync(join(tmpdir(), 'pulse-marks-'));
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children = [];
    rmSync(marks, { recursive: true, force: true });
  });

  async function start(name: string): Promise<ChildProcess> {
    const args = [JSON.stringify(await place()), marks, name];
    const child = fork(RESERVER, args, {
      execArgv: [],
      stdio: 'inherit',
    });
    children.push(child);
    await once(child, 'message');
    return child;
  }

  /** A dead holder: its reservations are ended, then what it marked is free. */
  async function bury(store: Store, child: ChildProcess, name: string): Promise<void> {
    child.kill('SIGKILL');
    await once(child, 'close');
    for (const path of readdirSync(marks).map((file) => join(marks, file)))
      if (markOf(path) === name) rmSync(path);
    await store.tx('end', (db) => endReservations(db, { sessionId: `ses_${name}` }));
  }

  /** `null`: its holder has just taken it away. */
  function markOf(path: string): string | null {
    try {
      return readlinkSync(path);
    } catch {
      return null;
    }
  }

  it('thirty processes never hold a file twice, also when some are killed', {
    timeout: 180_000,
  }, async () => {
    const store = await open();
    const names = Array.from({ length: COUNT }, (_, index) => `Agent-${index}`);
    const workers = await Promise.all(names.map((name) => start(name)));
    const reports = workers.slice(KILLED).map((child) => once(child, 'message') as Promise<[Found]>);
    for (const child of workers) child.send('go');
    for (const [index, child] of workers.slice(0, KILLED).entries()) {
      await delay(WORK_MS / KILLED);
      await bury(store, child, names[index]!);
    }
    for (const child of workers.slice(KILLED)) child.send('stop');
    const found = (await Promise.all(reports)).map(([report]) => report);
    expect(found.flatMap(({ doubled }) => doubled)).toEqual([]);
    const sum = (key: 'grants' | 'refusals') => found.reduce((total, each) => total + each[key], 0);
    expect(sum('grants')).toBeGreaterThan(COUNT);
    expect(sum('refusals')).toBeGreaterThan(COUNT);

    // Every grant is whole: as many rows as it asked for, under one number.
    const rows = await store.read((db) =>
      withCoordinationTables(db).selectFrom('reservations').selectAll().execute(),
    );
    const grants = Map.groupBy(rows, ({ fence }) => fence);
    for (const [fence, granted] of grants) {
      expect(
        granted.map(({ reason }) => Number(reason)),
        `fence ${fence}`,
      ).toEqual(granted.map(() => granted.length));
      expect(new Set(granted.map(({ agent_name }) => agent_name)).size).toBe(1);
    }
    expect(await store.read((db) => listReservations(db, { project: 'p' }))).toEqual([]);
  });
});
