/** Preflight's bookkeeping, the reset and the merge of a workflow on 50,000 files, beside the git commands they stand for. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGit } from '../src/git/exec.ts';
import { mergeBranch } from '../src/git/merge.ts';
import { resetWorktree } from '../src/git/recovery.ts';
import { ensureWorktree } from '../src/git/worktree.ts';
import { readArtifacts } from '../src/loops/workflow/artifacts.ts';
import { createShellCapture } from '../src/process/shell-capture.ts';
import { createScratch, type Scratch } from '../test/fakes/scratch.ts';
import { type Row, tell } from './row.ts';
import { median } from './statistics.ts';

const FILES = 50_000;
const FOLDERS = 500;
const ROUNDS = 7;
const MOST = 1.3;

using scratch = createScratch();
using programs = createShellCapture();
const git = createGit({
  exec: (call) => programs.capture({ file: 'git', ...call }),
  env: scratch.environment,
});
fill(scratch);
const root = scratch.repository;
const worktree = join(scratch.path, 'worktree');
const head = scratch.git('rev-parse', 'HEAD');
await ensureWorktree(git, { root, path: worktree, sha: head });

tell([
  await compare('(j) bookkeeping after preflight', {
    pulse: () => readArtifacts(git, worktree),
    plain: () => plain(worktree, ['status', '--porcelain', '--ignored=traditional']),
    before: () => undefined,
  }),
  await compare('(j) reset of the worktree', {
    pulse: () => resetWorktree(git, { worktree, sha: head }),
    plain() {
      plain(worktree, ['checkout', '-q', '--force', '--detach', head]);
      plain(worktree, ['clean', '-ffdq']);
    },
    before: () => soil(worktree),
  }),
  await compare('(j) merge at review', {
    pulse: () =>
      mergeBranch(git, {
        root,
        base: 'base',
        branch: 'work',
        mode: 'merge',
        subject: 'Merge work',
        trailers: {},
        identity: null,
        again: (mode) => mode,
        isAtWork: () => false,
      }),
    plain() {
      const tree = plain(root, ['merge-tree', '--write-tree', 'base', 'work']).trim();
      const commit = plain(root, [
        'commit-tree',
        tree,
        '-p',
        'base',
        '-p',
        'work',
        '-m',
        'Merge work',
      ]).trim();
      plain(root, ['update-ref', 'refs/heads/base', commit]);
    },
    before: () => diverge(scratch),
  }),
]);

async function compare(
  what: string,
  { pulse, plain: bare, before }: { pulse(): unknown; plain(): unknown; before(): void },
): Promise<Row> {
  const times: Record<'pulse' | 'plain', number[]> = { pulse: [], plain: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [side, work] of [
      ['pulse', pulse],
      ['plain', bare],
    ] as const) {
      before();
      const began = performance.now();
      await work();
      // The first round warms the caches.
      if (round > 0) times[side].push(performance.now() - began);
    }
  }
  const ratio = median(times.pulse) / median(times.plain);
  return {
    what,
    measured: `${Math.round(median(times.pulse))} ms`,
    beside: `the plain git commands: ${Math.round(median(times.plain))} ms (${FILES.toLocaleString('en')} files)`,
    result: `${ratio.toFixed(2)}×`,
    target: `≤ ${MOST}×`,
    isMet: ratio <= MOST,
  };
}

function plain(cwd: string, args: string[]): string {
  const env = {
    ...scratch.environment,
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  return execFileSync('git', args, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 28 });
}

function fill({ repository, git: run }: Scratch): void {
  for (let folder = 0; folder < FOLDERS; folder++) {
    mkdirSync(join(repository, `d${folder}`));
    for (let file = 0; file < FILES / FOLDERS; file++) {
      writeFileSync(join(repository, `d${folder}/f${file}.txt`), `${folder} ${file}\n`);
    }
  }
  run('add', '-A');
  run('commit', '-q', '-m', 'chore: many files');
  run('branch', 'start');
}

/** A few changed and new files, as a pulse leaves them. */
function soil(path: string): void {
  for (let index = 0; index < 20; index++) {
    writeFileSync(join(path, `d${index}/f0.txt`), 'changed\n');
    writeFileSync(join(path, `d${index}/new.txt`), 'new\n');
  }
}

/** `work` and `base` each one commit away from the start. */
function diverge({ git: run }: Scratch): void {
  const commit = (name: string): string => {
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: root,
      input: name,
      encoding: 'utf8',
    }).trim();
    const tree = execFileSync('git', ['mktree'], {
      cwd: root,
      input: `${run('ls-tree', 'start')}\n100644 blob ${blob}\t${name}\n`,
      encoding: 'utf8',
    }).trim();
    return run('commit-tree', tree, '-p', 'start', '-m', name);
  };
  run('update-ref', 'refs/heads/work', commit('work.txt'));
  run('update-ref', 'refs/heads/base', commit('base.txt'));
}
