/** A repository, a state directory of its own, and the real program; each test ends with nothing of it running. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect } from 'vitest';
import { bundlePackage } from '../fakes/bundled-package.ts';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const PROGRAM = (await bundlePackage())('bin/pulse.js');
export const OWN_NODE = join(ROOT, 'node_modules/node/bin/node');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The lines of stdout that are JSON. */
  readonly json: Record<string, never>[];
}

export interface Call {
  node?: string;
  cwd?: string;
  env?: Record<string, string | undefined>;
  stdin?: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** What has come on stdout and stderr so far. */
  output(): string;
}

export interface Scene {
  directory: string;
  repository: string;
  home: string;
  /** Runs a command of Pulse to its end. */
  pulse(args: string[], call?: Call): Promise<Ended>;
  start(args: string[], call?: Call): Running;
  /** An executable shell script: an agent. */
  agent(body: string): string;
  git(...args: string[]): string;
  /** The pids of everything that was started with a state directory of this scene. */
  processes(): number[];
}

/** Call once per file; the scene is new for each test. */
export function useScene(): Scene {
  const scene = { directory: '', repository: '', home: '' } as Scene;
  let scripts = 0;

  scene.start = (args, { node = OWN_NODE, cwd = scene.repository, env = {}, stdin } = {}) => {
    const child = spawn(node, [PROGRAM, ...args], {
      cwd,
      env: { ...environment(scene), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
    const ended = new Promise<Ended>((done) => {
      child.on('close', (code) =>
        done({
          code,
          stdout,
          stderr,
          get json() {
            return jsonLines(stdout);
          },
        }),
      );
    });
    return { child, ended, output: () => stdout + stderr };
  };
  scene.pulse = (args, call) => scene.start(args, call).ended;
  scene.agent = (body) => {
    const path = join(scene.directory, `agent-${++scripts}.sh`);
    writeFileSync(path, `#!/bin/sh\ncat > /dev/null\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  scene.git = (...args) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t', ...args], {
      cwd: scene.repository,
      encoding: 'utf8',
      env: environment(scene),
    }).trim();
  scene.processes = () => withEnvironment(`PULSE_HOME=${scene.directory}/`);

  beforeEach(() => {
    scene.directory = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-e2e-')));
    scene.repository = join(scene.directory, 'repo');
    scene.home = join(scene.directory, 'home');
    mkdirSync(scene.repository);
    writeFileSync(join(scene.repository, 'a.txt'), 'a\n');
    scene.git('init', '-q', '-b', 'main');
    scene.git('add', '-A');
    scene.git('commit', '-q', '-m', 'first');
  });
  afterEach(async () => {
    for (let i = 0; i < 50 && scene.processes().length > 0; i++) await sleep(100);
    const left = scene.processes().map((pid) => `${pid} ${commandLine(pid)}`);
    for (const pid of scene.processes()) process.kill(pid, 'SIGKILL');
    rmSync(scene.directory, { recursive: true, force: true, maxRetries: 5 });
    expect(left, 'processes left behind').toEqual([]);
  });
  return scene;
}

/** Waits until it is so, or fails saying what it waited for. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 40_000,
): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`waited ${withinMs} ms in vain: ${what}`);
    await sleep(50);
  }
}

/** The machine's own Node.js where it is older than Pulse needs, else `null`. */
export function olderNode(): string | null {
  for (const folder of (process.env.PATH ?? '').split(':')) {
    const node = join(folder, 'node');
    if (!existsSync(node) || realpathSync(node) === realpathSync(OWN_NODE)) continue;
    const major = Number(/v(\d+)/.exec(execFileSync(node, ['--version'], { encoding: 'utf8' }))?.[1]);
    if (major < 24) return node;
  }
  return null;
}

function environment({ directory, home }: Scene): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: directory,
    PULSE_HOME: home,
    XDG_CACHE_HOME: join(PROGRAM, '../../cache'),
  };
}

function jsonLines(text: string): Record<string, never>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

function withEnvironment(beginning: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) =>
      read(`/proc/${pid}/environ`)
        .split('\0')
        .some((entry) => entry.startsWith(beginning)),
    );
}

export function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone, or not ours to read
  }
}
