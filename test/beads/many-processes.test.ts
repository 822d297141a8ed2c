import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { listLines } from '../../src/loops/beads/graph/lines.ts';
import { listBeads, readRevision } from '../../src/loops/beads/graph/rows.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { PROJECT } from './beads.ts';

const WORKER = (await bundlePackage())('test/beads/fixtures/worker.ts');
const PROCESSES = 30;
const BEADS = 8;

onBothStores((open, place) => {
  let children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children = [];
  });

  it('lets thirty make and claim beads at once: nothing is lost, nothing is claimed twice', {
    timeout: 180_000,
  }, async () => {
    const { url = '', path } = await place();
    children = Array.from({ length: PROCESSES }, (_, who) =>
      fork(WORKER, [url, path, String(who), String(BEADS)], { stdio: 'inherit', execArgv: [] }),
    );
    await Promise.all(children.map((child) => once(child, 'message')));
    const reports = children.map((child) =>
      once(child, 'message').then(([report]) => report as { claims?: [string, number][]; error?: string }),
    );
    for (const child of children) child.send('go');
    const told = await Promise.all(reports);
    expect(told.flatMap(({ error }) => error ?? [])).toEqual([]);

    const claims = told.flatMap(({ claims: own }) => own!);
    const all = Array.from({ length: PROCESSES }, (_, who) =>
      Array.from({ length: BEADS }, (__, index) => `${who}-${index}`),
    ).flat();
    expect(claims.map(([id]) => id).toSorted()).toEqual(all.toSorted());
    // No two changes of a project have the same number.
    expect(new Set(claims.map(([, fence]) => fence)).size).toBe(claims.length);
    const store = await open();
    const beads = await store.read((db) => listBeads(db, PROJECT));
    expect(beads.map(({ id }) => id).toSorted()).toEqual(all.toSorted());
    expect(beads.every(({ status }) => status === 'closed')).toBe(true);
    expect(await store.read((db) => listLines(db, PROJECT))).toHaveLength(all.length);
    // Made, claimed and closed once each; asking in vain counts too.
    expect(await store.read((db) => readRevision(db, PROJECT))).toBeGreaterThanOrEqual(3 * all.length);
    // Nobody began a bead before the one it waits for was closed.
    const fences = new Map(claims);
    for (const [id, fence] of claims) {
      const [who, index] = id.split('-').map(Number);
      if (index! > 0) expect(fence).toBeGreaterThan(fences.get(`${who}-${index! - 1}`)!);
    }
  });
});
