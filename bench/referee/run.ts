/**
 * `npm run bench:referee`: cheats that must not be accepted in silence, and honest work that must not be stopped.
 * What was played is kept in a file, so that a long run can be done in parts: what is there is not played again.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Case, isAsItShould, listCases, outcomeOf, shuffled } from './cases.ts';
import { installRunner } from './packages.ts';
import { playCase } from './play.ts';
import { ECOSYSTEMS, type Ecosystem } from './project.ts';
import { askNaively } from './scene.ts';
import { type Kept, type Result, summarise } from './summary.ts';

const { values } = parseArgs({
  options: {
    /** Parts of ids, with commas between them; one has to match. */
    only: { type: 'string', default: '' },
    /** `cheat` or `honest`: only these. */
    kind: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    /** Begin no further case after this time. */
    minutes: { type: 'string', default: '600' },
    out: { type: 'string', default: join(tmpdir(), 'pulse-bench-referee.json') },
    /** Play what is kept already, too. */
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    summary: { type: 'boolean', default: false },
  },
});

const PROGRAMS: Partial<Record<Ecosystem, string>> = {
  pytest: 'python3 -m pytest --version',
  unittest: 'python3 --version',
  go: 'go version',
  cargo: 'cargo --version',
  'cargo-unit': 'cargo --version',
  make: 'make --version && python3 -m pytest --version',
};

const every = listCases();
const kept: Kept = existsSync(values.out)
  ? (JSON.parse(readFileSync(values.out, 'utf8')) as Kept)
  : { naive: {}, results: {} };
if (values.list) {
  for (const { id } of every) process.stdout.write(`${id}\n`);
} else if (!values.summary) await playAll();
const missing = ECOSYSTEMS.filter((one) => !isThere(one));
process.stdout.write(summarise(every, kept, missing));

async function playAll(): Promise<void> {
  const there = new Set(ECOSYSTEMS.filter(isThere));
  const words = values.only.split(',').filter(Boolean);
  const asked = every.filter(
    ({ id, ecosystem, kind }) =>
      there.has(ecosystem) &&
      (values.kind ?? kind) === kind &&
      (words.length === 0 || words.some((word) => id.includes(word))) &&
      (values.again || !kept.results[id]),
  );
  const queue = shuffled(asked, Number(values.seed));
  const until = performance.now() + Number(values.minutes) * 60_000;
  let played = 0;
  const work = async () => {
    while (performance.now() < until) {
      const next = queue.shift();
      if (!next) return;
      const result = await playOne(next);
      kept.results[next.id] = result;
      played++;
      process.stderr.write(
        `${played}/${asked.length} ${result.isRight ? ' ' : '!'} ${result.outcome.padEnd(8)} ${next.id}\n`,
      );
      keep();
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}

async function playOne(one: Case): Promise<Result> {
  try {
    if (one.naive) {
      const { key, project, edits } = one.naive;
      kept.naive[key] ??= (await askNaively(project, edits, one.naive)).code;
      if (kept.naive[key] !== 0) return { outcome: 'dropped', isRight: true };
    }
    const ended = await playCase(one.play);
    const outcome = outcomeOf(ended);
    return { outcome, isRight: isAsItShould(one, outcome), ended };
  } catch (error) {
    return { outcome: 'broken', isRight: false, error: (error as Error).stack ?? String(error) };
  }
}

function isThere(ecosystem: Ecosystem): boolean {
  if (ecosystem === 'vitest' || ecosystem === 'jest' || ecosystem === 'mocha')
    return installRunner(ecosystem);
  try {
    execFileSync('sh', ['-c', PROGRAMS[ecosystem] ?? 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function keep(): void {
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify(kept, null, 1)}\n`);
}
