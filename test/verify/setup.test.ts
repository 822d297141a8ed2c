import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectSetup, setupFingerprint } from '../../src/verify/setup.ts';
import { write } from '../git/fixture.ts';

describe('the setup of a worktree', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pulse-setup-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['package-lock.json', 'npm ci'],
    ['npm-shrinkwrap.json', 'npm ci'],
    ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
    ['yarn.lock', 'yarn install --immutable || yarn install --frozen-lockfile'],
    ['bun.lock', 'bun install --frozen-lockfile'],
    ['uv.lock', 'uv sync --frozen'],
    ['poetry.lock', 'poetry install --no-interaction'],
    ['Cargo.lock', 'cargo fetch --locked'],
    ['go.sum', 'go mod download'],
    ['.gitmodules', 'git submodule update --init --recursive'],
  ])('is told by %s', async (lockfile, command) => {
    write(folder, { [lockfile]: 'x' });
    expect(await detectSetup(folder)).toEqual([command]);
  });

  it('is nothing where there is no lockfile', async () => {
    write(folder, { 'package.json': '{}', 'docs/package-lock.json': '{}' });
    expect(await detectSetup(folder)).toEqual([]);
  });

  it('fetches submodules first, and runs each command once', async () => {
    write(folder, { 'go.sum': '', 'package-lock.json': '', 'npm-shrinkwrap.json': '', '.gitmodules': '' });
    expect(await detectSetup(folder)).toEqual([
      'git submodule update --init --recursive',
      'npm ci',
      'go mod download',
    ]);
  });

  it('has a fingerprint that changes with a lockfile and with the commands, and with nothing else', async () => {
    write(folder, { 'go.sum': 'one', 'main.go': 'one' });
    const first = await setupFingerprint(folder, ['a']);
    write(folder, { 'main.go': 'two', 'deep/go.sum': 'two' });
    expect(await setupFingerprint(folder, ['a'])).toBe(first);
    expect(await setupFingerprint(folder, ['a', 'b'])).not.toBe(first);
    write(folder, { 'go.sum': 'two' });
    const second = await setupFingerprint(folder, ['a']);
    expect(second).not.toBe(first);
    write(folder, { 'Cargo.lock': '' });
    expect(await setupFingerprint(folder, ['a'])).not.toBe(second);
  });
});
