/** A worktree that cannot be given up, at the end or between two attempts: nothing is lost, and the session continues. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { makeRepo } from '../git/fixture.ts';
import { COMPLETE, makeScene, type Scene } from './scene.ts';

const FILE = ['-c', 'protocol.file.allow=always'];

/** A commit in the submodule, which cannot be kept: something stands in the way of its ref. */
async function withUnkeepable(): Promise<Scene & { work: string; setup: string[] }> {
  const lib = makeRepo({ files: { 'lib.txt': 'l' } });
  const scene = await makeScene();
  const { root, sh } = scene;
  sh(root, ...FILE, 'submodule', '--quiet', 'add', lib.root, 'lib');
  sh(root, 'commit', '-q', '-m', 'lib');
  const inTheWay = join(root, '.git/modules/lib/refs/pulse');
  const commit = 'git -C lib add -A; git -C lib -c user.name=A -c user.email=a@b commit -qm more';
  const work = `echo more > lib/more.txt; ${commit}; echo x > ${inTheWay}`;
  // A new worktree begins with a copy of it.
  const clear = 'rm -f "$(git rev-parse --git-dir)/modules/lib/refs/pulse"';
  return { ...scene, work, setup: [`${clear}; git ${FILE.join(' ')} submodule --quiet update --init`] };
}

it.each([
  ['complete', COMPLETE],
  ['aborted', 'echo "<signal>BLOCKED: a question</signal>"'],
] as const)(
  'stays %s, and keeps a worktree whose submodule’s commits cannot be kept',
  async (status, said) => {
    const { work, setup, pulse, sh, ...scene } = await withUnkeepable();
    const session = await scene.startAndRun(`${work}; ${said}`, { setup });
    if (status === 'aborted') await pulse.abort(session.id, { actor: 'test' });
    expect((await pulse.session(session.id)).status).toBe(status);
    const { data } = await scene.seen(session, 'worktree.kept');
    expect(data).toMatchObject({ path: session.worktree_path });
    expect(sh(join(session.worktree_path, 'lib'), 'log', '-1', '--format=%s')).toBe('more');
    expect(existsSync(join(session.worktree_path, 'lib/more.txt'))).toBe(true);
  },
);

it('is set aside where an attempt is done again, with all it holds, and the next has a new one', async () => {
  const { work, setup, root, ...scene } = await withUnkeepable();
  const script = `test -e ${scene.folder}/once || { touch ${scene.folder}/once; ${work}; exit 7; }; echo y > y; ${COMPLETE}`;
  const session = await scene.startAndRun(script, { setup });
  expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
  const { data } = await scene.seen(session, 'worktree.kept');
  expect(data.path).toMatch(/\.kept-1\.\d+\.\d+$/);
  expect(existsSync(join(String(data.path), 'lib/more.txt'))).toBe(true);
  expect(existsSync(session.worktree_path)).toBe(false);
  const kept = join(root, '.git/pulse-kept', basename(String(data.path)), 'modules/lib');
  expect(existsSync(join(kept, 'HEAD'))).toBe(true);
});
