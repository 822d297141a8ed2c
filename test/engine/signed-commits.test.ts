/** `git.sign`: off unless a person sets it; then git itself signs, with the key of its own configuration. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPLETE, makeScene, type Scene } from './scene.ts';

const hasSshKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined;

function configure({ env, root, sh }: Scene, sign: boolean): void {
  const folder = join(env.HOME!, '.config/pulse');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.yaml'), `git: {sign: ${sign}}\n`);
  sh(root, 'config', 'commit.gpgSign', 'true');
  sh(root, 'config', 'gpg.format', 'ssh');
}

function useKey({ folder, root, sh }: Scene): void {
  const key = join(folder, 'key');
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  sh(root, 'config', 'user.signingKey', key);
}

describe.skipIf(!hasSshKeygen)('git.sign (needs ssh-keygen)', () => {
  it('makes git sign the commits of a session', async () => {
    const scene = await makeScene();
    configure(scene, true);
    useKey(scene);
    const session = await scene.startAndRun(
      `echo x > f; git commit -q --no-gpg-sign --allow-empty -m own; ${COMPLETE}`,
    );
    expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
    expect(scene.sh(scene.root, 'cat-file', 'commit', session.branch_name)).toContain('BEGIN SSH SIGNATURE');
    expect(scene.sh(scene.root, 'log', '-1', '--format=%an', session.branch_name)).toBe('Ada');
  });

  it('signs nothing unless it is set, whatever git is told', async () => {
    const scene = await makeScene();
    configure(scene, false);
    const session = await scene.startAndRun(`echo x > f; ${COMPLETE}`);
    expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
    expect(scene.sh(scene.root, 'cat-file', 'commit', session.branch_name)).not.toContain('gpgsig');
  });

  it('refuses a start where git cannot sign', async () => {
    const scene = await makeScene();
    configure(scene, true);
    await expect(scene.start(COMPLETE)).rejects.toMatchObject({ code: 'invalid_config' });
    expect((await scene.pulse.list({})).sessions).toEqual([]);
  });
});
