/** A git that waits for something: it is ended in time, with what it started, and the work is kept. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGit, type GitExec } from '../../src/git/exec.ts';
import { saveLeftovers } from '../../src/git/recovery.ts';
import { capture } from '../../src/process/capture.ts';
import { makeSession, write } from '../git/fixture.ts';
import { sleepers } from '../process/scene.ts';
import { COMPLETE, makeScene, until } from './scene.ts';

const forever = `8${process.pid}`.padEnd(12, '4');

describe('a clean filter that hangs', () => {
  it('is ended by an abort within ten seconds, and the files are kept as they are', async () => {
    const scene = await makeScene({ repo: { files: { '.gitattributes': '*.txt filter=slow\n' } } });
    const begun = join(scene.folder, 'begun');
    scene.sh(scene.root, 'config', 'filter.slow.clean', `touch ${begun}; sleep ${forever}0; cat`);
    const session = await scene.start(`echo work > work.txt; ${COMPLETE}`);
    const running = scene.run(session);
    await until(() => existsSync(begun));
    const askedMs = performance.now();
    const { session: aborted } = await scene.pulse.abort(session.id, { actor: 'test' });
    expect(performance.now() - askedMs).toBeLessThan(10_000);
    expect(aborted.status).toBe('aborted');
    expect(sleepers(forever)).toEqual([]);
    expect((await running).stop_reason).toBe('aborted_by_user');
    const [ref] = scene.refs('refs/pulse/recovery/');
    expect(scene.sh(scene.root, 'show', `${ref}:work.txt`)).toBe('work');
    expect(existsSync(session.worktree_path)).toBe(false);
  });

  it('takes no longer than git may, and is told with a code of its own', async () => {
    const { env, root, worktree, head, sh } = await makeSession();
    const exec: GitExec = (call) => capture({ file: 'git', ...call });
    const ordinary = createGit({ exec, env });
    write(worktree, { '.gitattributes': '*.txt filter=slow\n', 'a.txt': 'changed\n' });
    sh(root, 'config', 'filter.slow.clean', `sleep ${forever}1; cat`);
    sh(root, 'config', 'filter.slow.required', 'true');
    const limits = { localMs: 300, networkMs: 300, cloneMs: 300 };
    const git = createGit({ exec, env, limits });
    await expect(git.run(['add', '-A'], { cwd: worktree })).rejects.toMatchObject({
      code: 'git_stopped',
      message: expect.stringContaining('git add was ended: it took longer than 0.3s'),
      hint: expect.stringContaining('filter'),
    });
    expect(sleepers(forever)).toEqual([]);
    const ref = 'refs/pulse/recovery/ses_1/1.1';
    const about = { worktree, ref, startSha: head, message: 'left', filterLimitMs: 300 };
    const saved = await saveLeftovers(ordinary, about);
    expect(sh(root, 'show', `${saved.commit}:a.txt`)).toBe('changed');
  });
});
