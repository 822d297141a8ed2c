/** A temporary directory and processes that can be told from all others, with a check that none is left. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect } from 'vitest';
import { findCgroups } from '../../src/process/cgroup.ts';
import type { ProcessOptions } from '../../src/process/spawn.ts';

export interface Scene {
  /** A `sleep` with this duration is this test's and nobody else's. */
  readonly forever: string;
  readonly runId: string;
  readonly directory: string;
  shell(script: string, options?: Partial<ProcessOptions>): ProcessOptions;
}

let count = 0;

/** Call once per file; the scene is new for each test, and each test ends with the check. */
export function useScene(): Scene {
  const scene = { forever: '', runId: '', directory: '', shell };
  function shell(script: string, options: Partial<ProcessOptions> = {}): ProcessOptions {
    const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
    const { runId, directory: cwd } = scene;
    return { runId, file: '/bin/sh', args: ['-c', script], cwd, env, ...options };
  }
  beforeEach(() => {
    const number = `${process.pid}${++count}`;
    scene.forever = `9${number.padStart(12, '0')}`;
    scene.runId = `test-${number}`;
    scene.directory = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-process-')));
  });
  afterEach(() => {
    rmSync(scene.directory, { recursive: true, force: true });
    const left = sleepers(scene.forever);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    expect(left, 'processes left behind').toEqual([]);
    expect(
      findCgroups((id) => id === scene.runId),
      'cgroups left behind',
    ).toEqual([]);
  });
  return scene;
}

/** The pids of all processes with this text in their command line. */
export function sleepers(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text))
    .map(Number);
}

export async function until(condition: () => boolean, withinMs = 40_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${condition}`);
    await setTimeout(5);
  }
}

function commandLine(pid: string): string {
  const file = `/proc/${pid}/cmdline`;
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  } catch {
    return ''; // it ended between the two calls
  }
}
