import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOnboarded, readOnboarding, writeOnboarding } from '../../../src/loops/beads/files/onboarding.ts';
import { readToolingStatus } from '../../../src/loops/beads/files/tooling-status.ts';
import { packageVersion } from '../../../src/tools/package-version.ts';

const AT = '2026-02-03T04:05:06.000Z';
const found = { git: '2.45.0', worktrees: true, agents: ['claude'], sandbox: false };
let root: string;
const path = (name: string) => join(root, name);
const json = (name: string) => JSON.parse(readFileSync(path(name), 'utf8'));

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-test-')));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('onboarding', () => {
  it('is missing, then current, then stale under another version', async () => {
    expect(await readOnboarding(root)).toBe('missing');
    const { written, left } = await writeOnboarding(root, { at: AT, found });
    expect(written.toSorted()).toEqual([
      '.codex/pulse_status.mjs',
      '.pulse/STATE.md',
      '.pulse/onboarding.json',
      '.pulse/tooling-status.json',
    ]);
    expect(left).toEqual([]);
    expect(json('.pulse/onboarding.json')).toMatchObject({ pulse_version: packageVersion(), written_at: AT });
    expect(await readOnboarding(root)).toBe('current');
    expect(await isOnboarded(root)).toBe(true);
    for (const other of ['{"pulse_version": "0.0.0"}', '{', 'null', '{}']) {
      writeFileSync(path('.pulse/onboarding.json'), other);
      expect([other, await readOnboarding(root)]).toEqual([other, 'stale']);
    }
    expect(await isOnboarded(root)).toBe(false);
    await writeOnboarding(root, { at: AT, found });
    expect(await readOnboarding(root)).toBe('current');
  });

  it.each(['.pulse/STATE.md', '.pulse/tooling-status.json', '.codex/pulse_status.mjs'])(
    'is not complete without %s',
    async (name) => {
      await writeOnboarding(root, { at: AT, found });
      rmSync(path(name));
      expect(await isOnboarded(root)).toBe(false);
      expect((await writeOnboarding(root, { at: AT, found })).written).toContain(name);
      expect(await isOnboarded(root)).toBe(true);
    },
  );

  it('leaves STATE.md, and a script that is not by Pulse', async () => {
    mkdirSync(path('.pulse'));
    mkdirSync(path('.codex'));
    writeFileSync(path('.pulse/STATE.md'), 'mine\n');
    writeFileSync(path('.codex/pulse_status.mjs'), '// mine\n');
    const { written, left } = await writeOnboarding(root, { at: AT, found });
    expect(written).not.toContain('.pulse/STATE.md');
    expect(left).toEqual([{ path: '.codex/pulse_status.mjs', reason: 'It is not by Pulse.' }]);
    expect(readFileSync(path('.pulse/STATE.md'), 'utf8')).toBe('mine\n');
    expect(readFileSync(path('.codex/pulse_status.mjs'), 'utf8')).toBe('// mine\n');
    expect(await isOnboarded(root)).toBe(true);
  });

  it('writes through no link', async () => {
    const elsewhere = path('elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, path('.codex'));
    const { left } = await writeOnboarding(root, { at: AT, found });
    expect(left.map(({ path }) => path)).toEqual(['.codex/pulse_status.mjs']);
    rmSync(path('.pulse'), { recursive: true });
    symlinkSync(elsewhere, path('.pulse'));
    await expect(writeOnboarding(root, { at: AT, found })).rejects.toMatchObject({ code: 'unsafe_file' });
    expect(readdirSync(elsewhere)).toEqual([]);
    writeFileSync(join(elsewhere, 'onboarding.json'), JSON.stringify({ pulse_version: packageVersion() }));
    expect(await readOnboarding(root)).toBe('missing');
  });
});

describe('the recommended mode', () => {
  it('follows what was found', async () => {
    await writeOnboarding(root, { at: AT, found: { ...found, worktrees: false } });
    expect(json('.pulse/tooling-status.json')).toMatchObject({
      recommended_mode: 'single-worker',
      found: { git: '2.45.0', worktrees: false, agents: ['claude'], sandbox: false },
    });
    await writeOnboarding(root, { at: AT, found });
    expect((await readToolingStatus(root))?.recommended_mode).toBe('swarm');
  });

  it('stays as a person set it, in our file or in their own', async () => {
    await writeOnboarding(root, { at: AT, found });
    const status = {
      ...json('.pulse/tooling-status.json'),
      recommended_mode: 'single-worker',
      note: 'small machine',
    };
    for (const theirs of [status, { recommended_mode: 'single-worker', note: 'small machine' }]) {
      writeFileSync(path('.pulse/tooling-status.json'), JSON.stringify(theirs));
      await writeOnboarding(root, { at: AT, found });
      await writeOnboarding(root, { at: AT, found });
      expect(json('.pulse/tooling-status.json')).toMatchObject({
        recommended_mode: 'single-worker',
        note: 'small machine',
      });
    }
  });

  it('is unknown where the file says none', async () => {
    mkdirSync(path('.pulse'));
    for (const text of ['{', '[]', '{"recommended_mode": "many"}']) {
      writeFileSync(path('.pulse/tooling-status.json'), text);
      expect(await readToolingStatus(root)).toBeNull();
    }
  });
});
