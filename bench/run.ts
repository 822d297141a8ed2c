/** `npm run bench`: every measurement once, one after the other, as one table; it is kept in docs/benchmarks.md. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { RUNNER_FLAGS } from '../src/process/supervise.ts';
import { measureDisk } from './disk.ts';
import { ms, type Row } from './row.ts';

const DOCUMENT = join(import.meta.dirname, '../docs/benchmarks.md');
const [BEGIN, END] = ['<!-- measured -->', '<!-- /measured -->'];

const { values } = parseArgs({
  options: {
    iterations: { type: 'string', default: '1000' },
    experiments: { type: 'string', default: '1000' },
  },
});
const measurements: [string, ...string[]][] = [
  ['iteration.ts', values.iterations],
  ['latency.ts'],
  ['queues.ts'],
  ['coordination.ts'],
  ['sessions.ts'],
  ['start-up.ts'],
  ['first-instruction.ts'],
  ['research.ts'],
  ['research-flat.ts', '--experiments', values.experiments],
  ['large-repository.ts'],
  ['around-claude.ts'],
  ['room.ts'],
  ['code-search.ts'],
  ['code-index.ts'],
  ['index-memory.ts'],
  ['turns.ts'],
  ['slices.ts'],
  ['growth.ts'],
  ['beads.ts'],
  ['swarm.ts'],
  ['answers.ts'],
  ['page.ts'],
];

const began = performance.now();
// As the program runs by bin/pulse.js: with what was compiled the time before.
const compiled = mkdtempSync(join(tmpdir(), 'pulse-bench-'));
await start(['-e', `import('${pathToFileURL(join(import.meta.dirname, '../src/pulse.ts')).href}')`]);
const load = loadavg()[0]!;
const disk = measureDisk();
const rows: Row[] = [];
for (const [file, ...args] of measurements) {
  process.stderr.write(`${file} …\n`);
  rows.push(...(await measure(file, args)));
}
rmSync(compiled, { recursive: true });
rows.sort((a, b) => a.what.localeCompare(b.what));
const text = [
  `${machine()}; fdatasync of 4 KB p50 ${ms(disk.p50)}, p99 ${ms(disk.p99)}; load ${load.toFixed(1)} at the beginning, ` +
    `${loadavg()[0]!.toFixed(1)} at the end; the run took ${Math.round((performance.now() - began) / 1000)} s.`,
  '',
  ...table(rows),
].join('\n');
process.stdout.write(`${text}\n`);
keep(text);

async function measure(file: string, args: string[]): Promise<Row[]> {
  try {
    return JSON.parse(await start([join(import.meta.dirname, file), ...args])) as Row[];
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${(error as Error).message}\n`);
    return [];
  }
}

async function start(args: string[]): Promise<string> {
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
  const { stdout } = await promisify(execFile)(process.execPath, [...RUNNER_FLAGS, ...args], { env });
  return stdout;
}

function table(lines: readonly Row[]): string[] {
  const met = { true: 'yes', false: '**no**', null: '' };
  return [
    '| what | Pulse | beside it | result | target | met |',
    '|---|---|---|---|---|---|',
    ...lines.map(
      ({ what, measured, beside, result, target, isMet }) =>
        `| ${what} | ${measured} | ${beside} | ${result} | ${target} | ${met[`${isMet}`]} |`,
    ),
  ];
}

function machine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores, ${memory} GB of memory, ${process.platform}, Node.js ${process.versions.node}`;
}

/** Only between the two marks: what is said about the figures is written by hand. */
function keep(measured: string): void {
  const page = readFileSync(DOCUMENT, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n${measured}\n${END}${after}`);
}
