/** What Pulse adds to an iteration, whether that grows with the session, and what an iteration leaves on disk. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createPulse } from '../src/pulse.ts';
import { openSqlite } from '../src/store/open-sqlite.ts';
import { createScratch, type Scratch } from '../test/fakes/scratch.ts';
import { ms, type Row, tell, times } from './row.ts';
import { median, steps } from './statistics.ts';

const AGENT = 'echo x >>log.txt; echo "<signal>CONTINUE</signal>"';
const LONG = Number(process.argv[2] ?? 1000);
const ROUNDS = 12;
const PER_ROUND = 40;
const WARM_UP = 10;
/** How many iterations stand for "the 10th" and for "the last". */
const WINDOW = 40;

const bare: number[] = [];
const own: number[] = [];
/** Of each round: a machine that is quick in one half minute and slow in the next is so for both sides. */
const ratios: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const [theirs, ours] = [runBareLoop(), (await runSession(PER_ROUND)).took.slice(WARM_UP)];
  bare.push(...theirs);
  own.push(...ours);
  ratios.push(median(ours) / median(theirs));
}
const { took, bytes } = await runSession(LONG);
tell([againstBareLoop(), overTime(), growth()]);

function againstBareLoop(): Row {
  const ratio = median(ratios);
  return {
    what: '(a) an iteration with an instant agent',
    measured: `${ms(median(own))} (fastest ${ms(Math.min(...own))})`,
    beside: `shell loop with two fdatasyncs and a commit: ${ms(median(bare))} (fastest ${ms(Math.min(...bare))})`,
    result: `${times(ratio)} (the rounds: ${times(Math.min(...ratios))} to ${times(Math.max(...ratios))})`,
    target: '≤ 2.5×',
    isMet: ratio <= 2.5,
  };
}

function overTime(): Row {
  const early = median(took.slice(WARM_UP, WARM_UP + WINDOW));
  const late = median(took.slice(-WINDOW));
  return {
    what: `(b) iteration ${LONG.toLocaleString('en')}`,
    measured: ms(late),
    beside: `iteration 10 of the same session: ${ms(early)} (medians of ${WINDOW})`,
    result: times(late / early),
    target: '≤ 1.2×',
    isMet: late / early <= 1.2,
  };
}

function growth(): Row {
  return {
    what: '(g) what an iteration leaves in the store',
    measured: `${Math.round(bytes).toLocaleString('en')} bytes`,
    beside: `${LONG.toLocaleString('en')} iterations, brief and events included`,
    result: '',
    target: '',
    isMet: null,
  };
}

async function runSession(iterations: number): Promise<{ took: number[]; bytes: number }> {
  using scratch = createScratch();
  const settled: number[] = [];
  const database = join(scratch.home, 'pulse.db');
  await (await openSqlite({ path: database })).close();
  const emptyBytes = statSync(database).size;
  {
    await using pulse = await createPulse({
      environment: scratch.environment,
      trace: (point) => void (point === 'settle:after' && settled.push(performance.now())),
    });
    const { session } = await pulse.start({
      goal: 'Append a line',
      path: scratch.repository,
      createdBy: 'cli',
      agent: 'command',
      command: AGENT,
      maxIterations: iterations,
    });
    await pulse.run(session.id, new AbortController().signal);
  }
  if (settled.length !== iterations)
    throw new Error(`only ${settled.length} of ${iterations} iterations ran`);
  const bytes = statSync(database).size - emptyBytes;
  return { took: steps(settled), bytes: bytes / iterations };
}

function runBareLoop(): number[] {
  using scratch = createScratch();
  configure(scratch, {
    'user.name': 'Bench',
    'user.email': 'bench@localhost',
    'gc.auto': '0',
    'maintenance.auto': 'false',
  });
  const args = [join(import.meta.dirname, 'bare-loop.sh'), AGENT, String(PER_ROUND)];
  const output = execFileSync('bash', args, { cwd: scratch.repository, encoding: 'utf8' });
  return output
    .trim()
    .split('\n')
    .map((line) => Number(line) / 1000);
}

function configure(scratch: Scratch, settings: Record<string, string>): void {
  for (const [name, value] of Object.entries(settings)) scratch.git('config', name, value);
}
