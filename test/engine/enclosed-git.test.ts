/** Pulse's own git in the worktree of an enclosed agent: what the agent arms there goes off inside of the sandbox. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sandboxState } from '../../src/process/sandbox-state.ts';
import { createWorkflowScene, done, plan } from '../workflow/scene.ts';
import { COMPLETE, CONTINUE, makeScene } from './scene.ts';

const state = await sandboxState(process.env.PATH);
if (!state.works) console.warn(`The sandbox is not tested here. ${state.message}`);

describe.skipIf(!state.works)('git on the worktree of an enclosed agent', () => {
  it.each(['clean', 'smudge'] as const)(
    'runs a %s filter whose script lies in the tree inside',
    async (kind) => {
      const files = { '.gitattributes': '*.txt filter=strip\n', 'tools/strip.sh': 'cat\n', 'z.txt': 'a\n' };
      const scene = await makeScene({ repo: { files } });
      const outside = join(scene.folder, 'escaped');
      scene.sh(scene.root, 'config', `filter.strip.${kind}`, 'sh tools/strip.sh');
      const script = `touch ${outside}; cat`;
      const session = await scene.run(
        await scene.start('', {
          command: `test "$PULSE_ITERATION" = 1 || { ${COMPLETE}; exit 0; }
          echo '${script}' > tools/strip.sh; echo b >> z.txt; ${CONTINUE}`,
          sandbox: 'on',
          maxIterations: 2,
          verify: ['true'],
        }),
      );
      expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
      expect(scene.sh(scene.root, 'show', `${session.branch_name}:z.txt`)).toBe('a\nb');
      expect((await scene.pulse.verify(session.id)).verdict).toBe('fresh');
      expect(existsSync(outside)).toBe(false);
    },
  );

  it('runs inside while a completion is judged and the agent exchanges a nested repository for an armed one', async () => {
    await using scene = await createWorkflowScene();
    const outside = join(scene.scratch.path, 'escaped');
    // Two git folders, and a file that names now the one, now the other, replaced at once each time.
    const exchange = `const { linkSync, renameSync, copyFileSync } = require('node:fs');
      const put = (from, to) => { try { linkSync(from, to + '.new'); renameSync(to + '.new', to); } catch {} };
      const rest = new Int32Array(new SharedArrayBuffer(4));
      const until = Date.now() + 60000;
      while (Date.now() < until) {
        put('to-clean', 'sub/.git');
        try { copyFileSync('armed-config', 'armed/config'); } catch {}
        put('to-armed', 'sub/.git');
        Atomics.wait(rest, 0, 0, 1);
      }`;
    const script = `git init -q sub; echo '* filter=x' > sub/.gitattributes; echo hi > sub/f
      git -C sub add . && git -C sub -c user.name=a -c user.email=a@b commit -qm s && git add sub
      mv sub/.git clean && cp -r clean armed && git config -f armed/config filter.x.clean 'touch ${outside}; cat'
      cp armed/config armed-config; printf 'gitdir: ../clean\\n' > to-clean; printf 'gitdir: ../armed\\n' > to-armed
      cat > exchange.cjs <<'END'
${exchange}
END
      cp to-clean sub/.git; node exchange.cjs & pid=$!
      OUT=.; for n in 1 2 3 4; do echo $n > sub/f; ${done('feat: a', ['a.txt'], { to: 'done.json' })}; done
      kill $pid; echo '<signal>BLOCKED: enough</signal>'`;
    const { session } = await scene.pulse.workflow.start({
      plan: plan('one'),
      path: scene.scratch.repository,
      command: script,
      createdBy: 'cli',
      actor: 'test',
      isApproved: true,
      sandbox: 'on',
    });
    const { session: ended } = await scene.drive(session.id);
    expect(ended.status).toBe('blocked');
    expect(existsSync(outside)).toBe(false);
  });

  it('keeps the link to the repository closed, also where the state directory lies behind a link', async () => {
    const scene = await makeScene({ isBehindLink: true });
    const outside = join(scene.folder, 'escaped');
    const real = join(scene.folder, 'real-state');
    const session = await scene.run(
      await scene.start('', {
        command: `git init -q own; git -C own config filter.x.clean 'touch ${outside}; cat'
          echo '* filter=x' > .gitattributes; echo hi > f
          for at in "$PWD" "$(pwd -P)" '${real}'/worktrees/*/*; do
            echo "gitdir: $PWD/own/.git" > "$at/.git" && echo REPLACED
          done; ${COMPLETE}`,
        sandbox: 'on',
        maxIterations: 1,
      }),
    );
    const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
    expect(iteration.output_full).not.toContain('REPLACED');
    expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
    expect(existsSync(outside)).toBe(false);
  });
});
