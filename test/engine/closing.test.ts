/** The end of a session whose worktree cannot be given up: the session ends all the same, and says what stays. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeRepo } from '../git/fixture.ts';
import { COMPLETE, makeScene } from './scene.ts';

const FILE = ['-c', 'protocol.file.allow=always'];

it.each([
  ['complete', COMPLETE],
  ['aborted', 'echo "<signal>BLOCKED: a question</signal>"'],
] as const)(
  'stays %s, and keeps a worktree whose submodule’s commits cannot be kept',
  async (status, said) => {
    const lib = makeRepo({ files: { 'lib.txt': 'l' } });
    const scene = await makeScene();
    const { root, sh, pulse } = scene;
    sh(root, ...FILE, 'submodule', '--quiet', 'add', lib.root, 'lib');
    sh(root, 'commit', '-q', '-m', 'lib');
    const inTheWay = join(root, '.git/modules/lib/refs/pulse');
    const work =
      'echo more > lib/more.txt; git -C lib add -A; git -C lib -c user.name=A -c user.email=a@b commit -qm more';
    const session = await scene.startAndRun(`${work}; echo x > ${inTheWay}; ${said}`, {
      setup: [`git ${FILE.join(' ')} submodule --quiet update --init`],
    });
    if (status === 'aborted') await pulse.abort(session.id, { actor: 'test' });
    expect((await pulse.session(session.id)).status).toBe(status);
    const { data } = await scene.seen(session, 'worktree.kept');
    expect(data).toMatchObject({ path: session.worktree_path });
    expect(sh(join(session.worktree_path, 'lib'), 'log', '-1', '--format=%s')).toBe('more');
    expect(existsSync(join(session.worktree_path, 'lib/more.txt'))).toBe(true);
  },
);
