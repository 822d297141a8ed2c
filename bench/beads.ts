/** How long it takes to know which bead comes next: at once, right after a change by another process, and by command. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { coordinationTables } from '../src/coordination/tables.ts';
import { createGit } from '../src/git/exec.ts';
import { openRepository } from '../src/git/repository.ts';
import { closeBead } from '../src/loops/beads/graph/change.ts';
import { claimNextBead, readNext } from '../src/loops/beads/graph/claim.ts';
import { replaceLines } from '../src/loops/beads/graph/lines.ts';
import { type BeadContent, lockProject, writeBeads } from '../src/loops/beads/graph/rows.ts';
import { beadTables } from '../src/loops/beads/table-module.ts';
import { capture } from '../src/process/capture.ts';
import { openSqlite } from '../src/store/open-sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { createRandom } from '../test/fakes/random.ts';
import { createScratch } from '../test/fakes/scratch.ts';
import { words } from '../test/fakes/words.ts';
import { ms, type Row, tell, times } from './row.ts';
import { median } from './statistics.ts';

const PROGRAM = join(import.meta.dirname, '../bin/pulse.js');
const LOOKS = 50;
const RUNS = 15;
const modules = [coordinationTables, beadTables];

using scratch = createScratch();
const git = createGit({ exec: (call) => capture({ file: 'git', ...call }), env: scratch.environment });
const { projectKey: projectId } = await openRepository(git, scratch.repository);
const rows: Row[] = [];
for (const [count, targetMs] of [
  [10_000, 5],
  [100_000, 50],
] as const)
  rows.push(...(await measure(count, targetMs)));
rows.push(measureCommand());
tell(rows);

async function measure(count: number, targetMs: number): Promise<Row[]> {
  const path = join(scratch.path, `${count}.db`);
  const [here, there] = [await openSqlite({ path, modules }), await openSqlite({ path, modules })];
  await fill(here, count);
  const next = async (): Promise<string> => (await readNext(here, { projectId })).bead!.id;
  const first = await timed(next);
  const [again, changed, claimed]: number[][] = [[], [], []];
  for (let look = 0; look < LOOKS; look++) {
    again!.push(await timed(next));
    const id = await next();
    await there.tx('close', async (db) =>
      closeBead(db, await lockProject(db, projectId), { id, reason: 'Closed' }),
    );
    changed!.push(await timed(next));
    claimed!.push(await timed(() => claimNextBead(here, { projectId, worker: 'fox' })));
  }
  await Promise.all([here.close(), there.close()]);
  const row = (what: string, took: number[], beside: string): Row => ({
    what: `(r) ${what}, ${count.toLocaleString('en')} beads`,
    measured: ms(median(took)),
    beside,
    result: `slowest ${ms(Math.max(...took))}`,
    target: `≤ ${targetMs} ms`,
    isMet: median(took) <= targetMs,
  });
  return [
    row('the next bead', again!, `the first time in a process: ${ms(first)} (medians of ${LOOKS})`),
    row('the next bead, right after another process closed one', changed!, ''),
    { ...row('claiming the next bead', claimed!, ''), target: '', isMet: null },
  ];
}

/** With 10,000 beads: that file is the command's. */
function measureCommand(): Row {
  const home = join(scratch.path, 'home-of-command');
  execFileSync('mkdir', ['-p', home]);
  execFileSync('cp', [join(scratch.path, '10000.db'), join(home, 'pulse.db')]);
  const env = { ...scratch.environment, PULSE_HOME: home };
  const run = (args: string[]): number => {
    const began = performance.now();
    execFileSync(process.execPath, [PROGRAM, ...args], { env, stdio: 'ignore', cwd: scratch.repository });
    return performance.now() - began;
  };
  // In turns, so that both meet the same machine; the first of each fills the caches.
  const pairs = Array.from({ length: RUNS + 1 }, () => [run(['status']), run(['bead', 'next', '--json'])]);
  const [status, next] = [0, 1].map((which) => median(pairs.slice(1).map((pair) => pair[which]!)));
  return {
    what: '(r) `pulse bead next`, 10,000 beads',
    measured: ms(next!),
    beside: `\`pulse status\`: ${ms(status!)} (medians of ${RUNS})`,
    result: times(next! / status!),
    target: '≤ 1.5×',
    isMet: next! / status! <= 1.5,
  };
}

/** As a plan is: most beads wait for one or two earlier ones that are near; a tenth is closed. */
async function fill(store: Store, count: number): Promise<void> {
  const random = createRandom(count);
  const beads = Array.from({ length: count }, (_, index): BeadContent => {
    const needs = new Set<number>();
    for (let need = 0; need < Math.floor(random() * 3); need++)
      if (index > 0) needs.add(Math.max(0, index - 1 - Math.floor(random() * 50)));
    const at = new Date(1_700_000_000_000 + index * 1000).toISOString();
    const isClosed = index < count / 10;
    return {
      id: `bench-${index.toString(36)}`,
      title: `Bead ${index}`,
      type: 'task',
      status: isClosed ? 'closed' : 'open',
      priority: Math.floor(random() * 5),
      body: words(500, index),
      labels: [],
      dependencies: [...needs].map((need) => ({ id: `bench-${need.toString(36)}`, type: 'blocks' })),
      fields: {
        files: [`src/part-${index}/**`],
        verify: [{ command: 'npm test' }],
        verification_evidence: 'history/bench/verification/x.md',
        testing_mode: 'standard',
        decision_refs: [],
        learning_refs: [],
      },
      assignee: null,
      claim: null,
      created_at: at,
      updated_at: at,
      closed_at: isClosed ? at : null,
      close_reason: isClosed ? 'Closed' : null,
    };
  });
  await store.tx('fill', async (db) => {
    await writeBeads(db, await lockProject(db, projectId), beads);
    await replaceLines(
      db,
      projectId,
      beads.map(({ id }) => ({ bead_id: id, source: null })),
    );
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
