/** Test runners from npm. They are installed once, into a cache beside all repositories; no case needs the network. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const CACHE = process.env.PULSE_BENCH_CACHE ?? join(homedir(), '.cache', 'pulse-bench-referee');
const OWN = join(import.meta.dirname, '../../node_modules');

/** The `node_modules` that has this runner. vitest is this repository's own. */
export function packagesOf(runner: string): string {
  return runner === 'vitest' ? OWN : join(CACHE, runner, 'node_modules');
}

/** Whether it is there, after an attempt to install it. */
export function installRunner(runner: string): boolean {
  const there = join(packagesOf(runner), runner);
  if (existsSync(there)) return true;
  const folder = join(CACHE, runner);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  try {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', runner], { cwd: folder, stdio: 'ignore' });
  } catch {
    return false; // no network: the ecosystem is skipped and counted
  }
  return existsSync(there);
}
