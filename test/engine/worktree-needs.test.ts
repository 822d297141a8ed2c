/** What a worktree needs beside its commit: ignored files, and ports of its own. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isPortFree, openWorktreePorts } from '../../src/engine/workspace/worktree-ports.ts';
import { createScratch } from '../fakes/scratch.ts';
import { COMPLETE, makeScene, type Scene } from './scene.ts';

function prepare({ root, sh }: Scene, settings: string): void {
  writeFileSync(join(root, '.gitignore'), '.env*\ndata/\n.pulse/\n');
  sh(root, 'add', '-A');
  sh(root, 'commit', '-q', '-m', 'ignore');
  mkdirSync(join(root, 'data'));
  mkdirSync(join(root, '.pulse'), { recursive: true });
  writeFileSync(join(root, '.env'), 'A=1\n');
  writeFileSync(join(root, 'data/wanted'), 'wanted\n');
  writeFileSync(join(root, 'data/other'), 'other\n');
  writeFileSync(join(root, '.pulse/config.yaml'), settings);
}

describe('what a worktree needs', () => {
  it('has the ignored files that are named, in the worktree and where claims are judged, and in no commit', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    prepare(scene, 'worktree: {copy: [".env*", data/wanted]}\n');
    symlinkSync(join(root, 'data/other'), join(root, '.env.link'));
    const session = await scene.startAndRun(
      `cat .env .env.link data/wanted > seen.txt; ls data > there.txt; ${COMPLETE}`,
      {
        trust: true,
        verify: ['grep -qx A=1 .env', 'test ! -L .env.link', 'test ! -e data/other'],
      },
    );
    expect(session).toMatchObject({ status: 'complete', trust: 'verified' });
    const show = (path: string) => sh(root, 'show', `${session.branch_name}:${path}`);
    expect(show('seen.txt')).toBe('A=1\nother\nwanted');
    expect(show('there.txt')).toBe('wanted');
    const files = sh(root, 'ls-tree', '-r', '--name-only', session.branch_name).split('\n');
    expect(files).not.toContain('.env');
  });

  it('copies nothing that the worktree does not ignore', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    prepare(scene, 'worktree: {copy: [".env*"]}\n');
    // Ignored in the checkout alone: the session begins before that.
    const session = await scene.startAndRun(`ls -A > there.txt; ${COMPLETE}`, {
      trust: true,
      base: 'HEAD~1',
    });
    expect(sh(root, 'show', `${session.branch_name}:there.txt`).split('\n')).not.toContain('.env');
  });

  it('has ports of its own, the same for the agent and the checks of a claim, others for each session', async () => {
    const scene = await makeScene();
    prepare(scene, 'worktree: {ports: [PORT, DB_PORT]}\n');
    const log = join(scene.root, 'data/ports');
    const run = () =>
      scene.startAndRun(`echo "$PORT $DB_PORT" > ports.txt; ${COMPLETE}`, {
        trust: true,
        verify: [`echo "$PORT $DB_PORT" >> ${log}`],
      });
    const one = await run();
    const two = await run();
    const ports = [one, two].map(({ branch_name: branch }) =>
      scene.sh(scene.root, 'show', `${branch}:ports.txt`).trim(),
    );
    const numbers = ports.flatMap((pair) => pair.split(' ').map(Number));
    expect(new Set(numbers).size).toBe(4);
    for (const port of numbers) {
      expect(port).toBeGreaterThanOrEqual(20_000);
      expect(port).toBeLessThan(32_000);
    }
    const checked = readFileSync(log, 'utf8').trim().split('\n');
    // Of each session the base's and the claim's.
    expect(checked).toHaveLength(4);
    expect(checked[1]).toBe(ports[0]);
    expect(checked[0]).not.toBe(ports[0]);
    expect(checked[3]).toBe(ports[1]);
  });

  it('refuses names that mean something else, and files outside of the repository', async () => {
    const scene = await makeScene();
    const start = () => scene.start('true', { trust: true });
    for (const setting of [
      'ports: [PATH]',
      'ports: [PULSE_HOME]',
      'ports: ["A B"]',
      'copy: [../secret]',
      'copy: [.git/config]',
    ]) {
      prepareConfig(scene, `worktree: {${setting}}\n`);
      await expect(start(), setting).rejects.toMatchObject({ code: 'invalid_config' });
    }
  });
});

function prepareConfig({ root }: Scene, settings: string): void {
  mkdirSync(join(root, '.pulse'), { recursive: true });
  writeFileSync(join(root, '.pulse/config.yaml'), settings);
}

describe('ports of worktrees', () => {
  it('are claimed once, whoever asks at the same time, and free again when the worktree is gone', async () => {
    using scratch = createScratch();
    const folder = join(scratch.path, 'ports');
    const checkouts = Array.from({ length: 20 }, (_, index) => join(scratch.path, `checkout-${index}`));
    for (const path of checkouts) mkdirSync(path);
    const given = await Promise.all(checkouts.map((path) => openWorktreePorts(folder).of(path, ['A', 'B'])));
    const all = given.flatMap((ports) => Object.values(ports));
    expect(new Set(all).size).toBe(40);
    expect(await openWorktreePorts(folder).of(checkouts[3]!, ['B', 'A'])).toEqual(given[3]);
  });

  it('are told from those on which somebody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as { port: number };
    expect(await isPortFree(port)).toBe(false);
    await new Promise((done) => server.close(done));
    expect(await isPortFree(port)).toBe(true);
  });
});
