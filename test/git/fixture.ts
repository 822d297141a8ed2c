/** Real git in a temporary folder: a repository, a worktree beside it, and a count of the processes Pulse starts. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { onTestFinished } from 'vitest';
import { createGit, type Git, type GitExec } from '../../src/git/exec.ts';
import { createPersistentGit } from '../../src/git/persistent-git.ts';
import { ensureWorktree } from '../../src/git/worktree.ts';
import { openDialogue } from '../../src/process/dialogue.ts';

export const spawnGit: GitExec = async ({ next, ...call }) => {
  const first = await spawnOne(call);
  if (!next || first.code !== 0) return first;
  return spawnOne({ ...call, args: next, stdin: undefined });
};

const spawnOne: GitExec = ({ args, cwd, env, stdin }) =>
  new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env });
    const stdout: Buffer[] = [];
    let stderr = '';
    child.stdout.on('data', (chunk) => stdout.push(chunk));
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout: Buffer.concat(stdout), stderr }));
    child.stdin.on('error', () => child.stdin.destroy());
    child.stdin.end(stdin);
  });

export const IDENTITY = { name: 'Ada', email: 'ada@example.org' };
export const TRAILERS = { 'Pulse-Session': 'ses_1', 'Pulse-Iteration': '1' };
export const AGENT_REF = 'refs/pulse/agent/ses_1/1';

/** Any code units, unpaired surrogates and control characters too. */
export const anyText = fc
  .uint8Array({ maxLength: 400 })
  .map((bytes) => Buffer.from(bytes).toString('utf16le'));

export interface Repo {
  git: Git;
  /** Arguments of the processes since the last `counted()`. */
  calls: string[][];
  /** Runs something and says how many git processes it took. */
  counted<T>(work: () => Promise<T>): Promise<[T, number]>;
  folder: string;
  root: string;
  head: string;
  env: Record<string, string>;
  /** git as a user or an agent runs it, in any folder. */
  sh(cwd: string, ...args: string[]): string;
}

export interface RepoOptions {
  files?: Record<string, string>;
  commit?: boolean;
  identity?: boolean;
  init?: string[];
  /** With the processes that stay, as in Pulse. */
  isKept?: boolean;
}

/** Removed when the test ends. HOME is empty, so that no configuration of this host leaks in. */
export function makeRepo({ files = { 'a.txt': 'a\n' }, commit = true, ...options }: RepoOptions = {}): Repo {
  const folder = makeFolder();
  const root = join(folder, 'project');
  const home = join(folder, 'home');
  mkdirSync(home);
  const env = { PATH: process.env.PATH ?? '', HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const author = {
    GIT_AUTHOR_NAME: 'U',
    GIT_AUTHOR_EMAIL: 'u@x',
    GIT_COMMITTER_NAME: 'U',
    GIT_COMMITTER_EMAIL: 'u@x',
  };
  const sh = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, env: { ...env, ...author }, stdio: ['ignore', 'pipe', 'pipe'] })
      .toString()
      .trim();
  mkdirSync(root);
  sh(root, 'init', '-q', '-b', 'main', ...(options.init ?? []));
  if (options.identity !== false) {
    sh(root, 'config', 'user.name', IDENTITY.name);
    sh(root, 'config', 'user.email', IDENTITY.email);
  }
  write(root, files);
  if (commit) {
    sh(root, 'add', '-A', '-f');
    sh(root, 'commit', '-q', '--allow-empty', '-m', 'start');
  }
  const calls: string[][] = [];
  const kept = createPersistentGit((call, events) => openDialogue({ file: 'git', ...call }, events));
  onTestFinished(() => kept[Symbol.asyncDispose]());
  const git = createGit({
    exec: spawnGit,
    kept: options.isKept ? kept : undefined,
    env,
    onCall: (args, what) => what === 'process' && calls.push(args),
  });
  const counted = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    calls.length = 0;
    return [await work(), calls.length];
  };
  return { git, calls, counted, folder, root, head: commit ? sh(root, 'rev-parse', 'HEAD') : '', env, sh };
}

/** A repository and the worktree of a session in it. */
export async function makeSession(options: RepoOptions = {}): Promise<Repo & { worktree: string }> {
  const repo = makeRepo(options);
  const worktree = join(repo.folder, 'worktrees', 'ses_1');
  await ensureWorktree(repo.git, { root: repo.root, path: worktree, sha: repo.head });
  return { ...repo, worktree };
}

export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-git-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function write(folder: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
