/** How long a person waits for the prompt to come back. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../src/store/open-sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { admit } from '../test/fakes/admit.ts';
import { ms, type Row, tell } from './row.ts';
import { median } from './statistics.ts';

const PROGRAM = join(import.meta.dirname, '../bin/pulse.js');
const SESSIONS = 10_000;
const RUNS = 15;

const home = mkdtempSync(join(tmpdir(), 'pulse-bench-'));
try {
  await fillStore(join(home, 'pulse.db'));
  const node = measure(['-e', '0']);
  const row = (what: string, took: number[], targetMs: number): Row => ({
    what: `(f) ${what}`,
    measured: `${ms(median(took))} (fastest ${ms(Math.min(...took))})`,
    beside: `\`node -e 0\`: ${ms(median(node))}`,
    result: '',
    target: `≤ ${targetMs} ms`,
    isMet: median(took) <= targetMs,
  });
  tell([
    row('`pulse --version`', measure([PROGRAM, '--version']), 150),
    row(`\`pulse status\`, ${SESSIONS.toLocaleString('en')} sessions`, measure([PROGRAM, 'status']), 300),
  ]);
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function fillStore(path: string): Promise<void> {
  const store = await openSqlite({ path });
  await store.tx('fill', async (db) => {
    // All in one transaction: what is measured is reading them.
    const inside: Store = { ...store, tx: (_, work) => work(db) };
    for (let number = 0; number < SESSIONS; number++) {
      const id = `ses_00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
      const status = number % 1000 === 0 ? 'running' : 'complete';
      await admit(inside, { id, status, branch_name: `pulse/goal-${number}` });
    }
  });
  await store.close();
}

/** The first run fills the caches. */
function measure(args: string[]): number[] {
  const env = { ...process.env, PULSE_HOME: home };
  const took = Array.from({ length: RUNS + 1 }, () => {
    const began = performance.now();
    execFileSync(process.execPath, args, { env, stdio: 'ignore', cwd: home });
    return performance.now() - began;
  });
  return took.slice(1);
}
