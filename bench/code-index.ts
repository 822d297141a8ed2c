/** The code index of a large worktree: its first answer, questions, changes, a second worktree, memory. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type CodeIndex, createCodeIndexes } from '../src/context/code-index/code-indexes.ts';
import { searchCheckout } from '../src/engine/run/code-search.ts';
import { createGit } from '../src/git/exec.ts';
import { listProjectFiles } from '../src/git/project-files.ts';
import { capture } from '../src/process/capture.ts';
import { FUNCTIONS, writeFiles } from './generated-code.ts';
import { ms, type Row, tell } from './row.ts';
import { median, quantile } from './statistics.ts';

const { values } = parseArgs({ options: { files: { type: 'string', default: '10000' } } });
const FILES = Number(values.files);
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-code-')));
const root = join(folder, 'repo');
const git = createGit({ exec: (call) => capture({ file: 'git', ...call }) });
const run = (...args: string[]) =>
  git.run(['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root });
const { word } = writeFiles(root, FILES);
await run('init', '-q');
await run('add', '.');
await run('commit', '-q', '-m', 'files');

const before = process.memoryUsage.rss();
const list = (indexed: Parameters<typeof listProjectFiles>[1]) => listProjectFiles(git, indexed);
const rows: Row[] = [];
{
  await using indexes = createCodeIndexes({ list, folder: join(folder, 'index') });
  const opened = { worktree: root, except: [], project: 'bench' };
  const began = performance.now();
  using one = indexes.open(opened);
  const question = { ...opened, query: 'where is the harbour lease renewed', limit: 10, patienceMs: 0 };
  const first = await searchCheckout({ indexes, environment: process.env }, question);
  const firstMs = performance.now() - began;
  rows.push(
    row(`(o) the first answer on ${FILES.toLocaleString('en')} files, \`${first.index}\``, firstMs, 1_000),
  );
  const readyMs = (await readiness(one)) - began;
  const most = process.memoryUsage.rss() - before;
  const took = await ask(one);
  const chunks = (FILES * FUNCTIONS).toLocaleString('en');
  rows.push(row(`(o) a question at ${chunks} chunks (ready after ${ms(readyMs)}), p50`, median(took), 10));
  rows.push(row('(o) the same, p99', quantile(took, 0.99), 50));
  rows.push(row('(o) a changed file is found, the slowest of 20', await change(one), 100));
  rows.push(row('(o) a second worktree of the same commit is ready', await second(indexes), 200));
  rows.push({
    ...{ what: `(o) the whole process with ${chunks} chunks, at its most`, beside: '' },
    ...{ measured: `${megabytes(most)} resident beyond what it had before`, result: megabytes(most) },
    ...{ target: '', isMet: null },
  });
}
rmSync(folder, { recursive: true });
tell(rows);

async function readiness(index: CodeIndex): Promise<number> {
  for (;;) {
    if ((await index.search('harbour', 10)).index === 'ready') return performance.now();
    await delay(20);
  }
}

async function ask(index: CodeIndex): Promise<number[]> {
  const took: number[] = [];
  for (let asked = 0; asked < 320; asked++) {
    const query = `where does the ${word()} ${word()} the ${word()} of a ${word()}`;
    const began = performance.now();
    await index.search(query, 10);
    if (asked >= 20) took.push(performance.now() - began);
  }
  return took;
}

async function change(index: CodeIndex): Promise<number> {
  let slowest = 0;
  const path = (await index.search('harbour', 1)).hits[0]!.path;
  for (let time = 0; time < 20; time++) {
    const fresh = `volcano${String.fromCharCode(97 + time)}quake`;
    writeFileSync(join(root, path), `export const ${fresh} = 1;\n`);
    const began = performance.now();
    while ((await index.search(fresh, 1)).hits[0]?.text.includes(fresh) !== true);
    slowest = Math.max(slowest, performance.now() - began);
  }
  await run('checkout', '-q', '.');
  return slowest;
}

async function second(indexes: ReturnType<typeof createCodeIndexes>): Promise<number> {
  const worktree = join(folder, 'second');
  await run('worktree', 'add', '-q', worktree);
  const began = performance.now();
  using index = indexes.open({ worktree, except: [], project: 'bench' });
  return (await readiness(index)) - began;
}

function row(what: string, value: number, target: number): Row {
  return {
    what,
    measured: ms(value),
    beside: '',
    result: ms(value),
    target: `≤ ${target} ms`,
    isMet: value <= target,
  };
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
