/** The clean room at 50,000 prepared files and 500 MB: what a claim waits for it, from the second one on. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createGit } from '../src/git/exec.ts';
import { runProcess } from '../src/process/run.ts';
import { openRoom } from '../src/referee/room/room.ts';
import { ms, tell } from './row.ts';
import { median } from './statistics.ts';

const { values } = parseArgs({
  options: { files: { type: 'string', default: '50000' }, tracked: { type: 'string', default: '5000' } },
});
const FILES = Number(values.files);
const TRACKED = Number(values.tracked);
const BYTES = 10 * 1024;
const CLAIMS = 7;

const folder = mkdtempSync(join(tmpdir(), 'pulse-bench-room-'));
const root = join(folder, 'project');
const sh = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@localhost', ...args], {
    cwd: root,
    encoding: 'utf8',
  }).trim();

function fill(base: string, { count, bytes }: { count: number; bytes: number }): void {
  for (let index = 0; index < count; index++) {
    const parent = join(base, `p${index % 500}`);
    if (index < 500) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `f${index}.js`), Buffer.alloc(bytes, index % 251));
  }
}

try {
  mkdirSync(root);
  sh('init', '-q', '-b', 'main');
  writeFileSync(join(root, '.gitignore'), 'node_modules/\n');
  fill(join(root, 'src'), { count: TRACKED, bytes: 1024 });
  sh('add', '-A');
  sh('commit', '-q', '-m', 'base');
  const git = createGit({
    async exec({ args, cwd, env, stdin }) {
      const done = await runProcess({
        runId: 'bench',
        file: 'git',
        args,
        cwd,
        env: env ?? {},
        stdin: stdin as string,
      });
      return { code: done.code ?? -1, stdout: Buffer.from(done.stdout), stderr: done.stderr };
    },
  });
  const room = openRoom({
    path: join(folder, 'rooms/ses_1'),
    root,
    git,
    inside: async (place) => git.bind({ place }),
    setup: ['install'],
  });
  const request = {
    async runSetup() {
      fill(join(room.folders.tree, 'node_modules'), { count: FILES, bytes: BYTES });
      return null;
    },
  };
  const at = () => ({ tree: sh('rev-parse', 'HEAD^{tree}'), commit: sh('rev-parse', 'HEAD') });
  const base = at();
  const { key } = await room.enter(base, request);
  await room.keep(base, key);
  const times: number[] = [];
  for (let claim = 0; claim < CLAIMS; claim++) {
    writeFileSync(join(root, `src/p1/f1.js`), `claim ${claim}`);
    sh('commit', '-qam', `claim ${claim}`);
    const tree = at();
    const began = performance.now();
    await room.enter(tree, request);
    times.push(performance.now() - began);
    // What a check leaves: a build folder, a touched module.
    fill(join(room.folders.tree, 'dist'), { count: 600, bytes: 100 });
    writeFileSync(join(room.folders.tree, 'node_modules/p3/f3.js'), 'changed');
  }
  const [count, tracked] = [FILES, TRACKED].map((each) => each.toLocaleString('en'));
  tell([
    {
      what: `(n) the clean room before a claim, ${count} prepared files, ${Math.round((FILES * BYTES) / 1e6)} MB, ${tracked} tracked`,
      measured: `${ms(median(times))} (${ms(Math.min(...times))} to ${ms(Math.max(...times))})`,
      ...{ beside: '', result: '', target: '≤ 600 ms', isMet: median(times) <= 600 },
    },
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
