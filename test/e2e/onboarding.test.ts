/** `pulse init` and what workers need, with the real program. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_NODE, PROGRAM, useScene } from './scene.ts';

const scene = useScene();
const at = (name: string) => join(scene.repository, name);
const FILES = [
  '.pulse/onboarding.json',
  '.pulse/tooling-status.json',
  '.pulse/STATE.md',
  '.codex/pulse_status.mjs',
];

describe('pulse init', () => {
  it('writes what workers need, and git status shows the config alone', async () => {
    const { code, json, stderr } = await scene.pulse(['init', '--json']);
    expect(code, stderr).toBe(0);
    expect((json[0] as unknown as { written: string[] }).written.toSorted()).toEqual(FILES.toSorted());
    for (const name of FILES) expect(existsSync(at(name))).toBe(true);
    expect(scene.git('status', '--porcelain', '-uall')).toBe('?? .pulse/config.yaml');
    expect(JSON.parse(readFileSync(at('.pulse/tooling-status.json'), 'utf8'))).toMatchObject({
      recommended_mode: 'swarm',
      found: { git: expect.stringMatching(/^\d+\.\d+/), worktrees: true },
    });
  });

  it('brings it up to date where the config is there already, and leaves the config', async () => {
    mkdirSync(at('.pulse'));
    writeFileSync(at('.pulse/config.yaml'), 'verify: [make]\n');
    const first = await scene.pulse(['init']);
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('Kept')]);
    expect(first.stderr).toContain('.pulse/onboarding.json');
    expect(readFileSync(at('.pulse/config.yaml'), 'utf8')).toBe('verify: [make]\n');
    // It says nothing of trust: nobody has looked at the config.
    expect((await scene.pulse(['config', '--json'])).json[0]).toMatchObject({
      project: { trust: 'untrusted' },
    });
    expect((await scene.pulse(['init'])).code).toBe(2);
    writeFileSync(at('.pulse/onboarding.json'), '{"pulse_version": "0.0.0"}');
    expect((await scene.pulse(['init', '--json'])).json[0]).toMatchObject({ path: at('.pulse/config.yaml') });
    rmSync(at('.codex'), { recursive: true });
    expect((await scene.pulse(['init'])).code).toBe(0);
    expect((await scene.pulse(['init'])).code).toBe(2);
  });
});

describe('.codex/pulse_status.mjs', () => {
  it('is pulse status --json, with its exit code', async () => {
    await scene.pulse(['init']);
    const bin = join(scene.directory, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'pulse'), `#!/bin/sh\nexec '${OWN_NODE}' '${PROGRAM}' "$@"\n`, { mode: 0o755 });
    const env = {
      ...process.env,
      PATH: `${bin}:/usr/bin:/bin`,
      PULSE_HOME: scene.home,
      PULSE_RUN_ID: undefined,
    };
    const shim = (path: string, ...args: string[]) =>
      spawnSync(OWN_NODE, ['.codex/pulse_status.mjs', ...args], {
        cwd: scene.repository,
        env: { ...env, PATH: path },
        encoding: 'utf8',
      });
    const told = execFileSync(join(bin, 'pulse'), ['status', '--json'], {
      cwd: scene.repository,
      env,
      encoding: 'utf8',
    });
    const asked = shim(env.PATH, '--json');
    expect([asked.status, asked.stdout]).toEqual([0, told]);
    expect(JSON.parse(asked.stdout)).toMatchObject({ onboarding: { status: 'current' }, handoffs: [] });
    expect(shim(env.PATH, '--json', 'ses_nothing').status).toBe(2);
    const missing = shim('/nowhere');
    expect([missing.status, missing.stderr]).toEqual([127, 'pulse is not on the PATH.\n']);
    writeFileSync(join(bin, 'pulse'), '#!/bin/sh\nkill -TERM $$\n', { mode: 0o755 });
    expect(shim(env.PATH).status).toBe(143);
  });
});
