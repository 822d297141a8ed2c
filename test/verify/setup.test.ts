import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWorktree } from '../../src/project/detect/worktree.ts';
import { detectPreflight } from '../../src/project/detect.ts';
import { detectSetup, setupFingerprint } from '../../src/project/setup.ts';
import { write } from '../git/fixture.ts';

describe('the setup of a worktree', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pulse-setup-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['package-lock.json', 'package.json', '{}', 'npm ci'],
    ['npm-shrinkwrap.json', 'package.json', '{}', 'npm ci'],
    ['pnpm-lock.yaml', 'package.json', '{}', 'pnpm install --frozen-lockfile'],
    ['yarn.lock', 'package.json', '{}', 'yarn install --frozen-lockfile'],
    ['yarn.lock', 'package.json', '{"packageManager":"yarn@4.1.0"}', 'yarn install --immutable'],
    ['bun.lock', 'package.json', '{}', 'bun install --frozen-lockfile'],
    ['uv.lock', 'pyproject.toml', '', 'uv sync --frozen'],
    ['poetry.lock', 'pyproject.toml', '', 'poetry install --no-interaction'],
    ['Cargo.lock', 'Cargo.toml', '', 'cargo fetch --locked'],
    ['go.sum', 'go.mod', '', 'go mod download'],
    ['packages.lock.json', 'App.csproj', '', 'dotnet restore --locked-mode'],
    ['.gitmodules', 'README.md', '', 'git submodule update --init --recursive'],
  ])('is told by %s beside %s, as in preflight', async (lockfile, manifest, text, command) => {
    write(folder, { [lockfile]: 'x', [manifest]: text });
    expect(await detectSetup(folder)).toEqual([command]);
    const { certain, steps } = detectPreflight(await readWorktree(folder));
    expect([certain, steps.map((step) => step.command)]).toEqual([true, [command]]);
  });

  it('is nothing where there is no lockfile, and nothing that a lockfile does not fix', async () => {
    write(folder, { 'package.json': '{"dependencies":{"a":"1"}}', 'docs/package-lock.json': '{}' });
    expect(await detectSetup(folder)).toEqual([]);
    write(folder, { 'go.sum': '', 'go.mod': '' });
    expect(await detectSetup(folder)).toEqual(['go mod download']);
  });

  it('fetches submodules first, and runs each command once', async () => {
    const manifests = { 'package.json': '{}', 'go.mod': '' };
    const lockfiles = { 'go.sum': '', 'package-lock.json': '', 'npm-shrinkwrap.json': '', '.gitmodules': '' };
    write(folder, { ...manifests, ...lockfiles });
    expect(await detectSetup(folder)).toEqual([
      'git submodule update --init --recursive',
      'npm ci',
      'go mod download',
    ]);
  });

  it('is told without waiting for a pipe in the place of a lockfile, or following a link out', async () => {
    write(folder, { 'package.json': '{}' });
    const pipes = ['package-lock.json', 'go.sum', 'uv.lock', 'yarn.lock', 'poetry.lock'];
    for (const name of pipes) execFileSync('mkfifo', [join(folder, name)]);
    symlinkSync('/etc/passwd', join(folder, 'Cargo.lock'));
    expect(await setupFingerprint(folder, [])).toMatch(/^[0-9a-f]{64}$/);
    expect(await detectSetup(folder)).toEqual([]);
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
