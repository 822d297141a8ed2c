/** `pulse verify` of a workflow: its checks on the branch's head, against what was there before the first pulse. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkflowScene, done, plan, type WorkflowScene } from './scene.ts';

/** Fails from the beginning with one error of a compiler, and with another once `flag` is there. */
function checkIn({ scratch }: WorkflowScene): { command: string; flag: string } {
  const flag = join(scratch.path, 'flag');
  const old = 'echo "src/old.ts(1,1): error TS2322: old."';
  const command = `${old}; test -f ${flag} && echo "src/new.ts(1,1): error TS2304: new."; exit 2`;
  return { command, flag };
}

describe('verifying a workflow', () => {
  it('says fresh, stale or false against the baseline, and touches nothing', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const { command, flag } = checkIn(scene);
    const scoped = { command: 'test -d docs', source: 'Lint', scope: ['docs/**'] };
    const id = await scene.start(
      { ...plan('one', 'two'), verify: [{ command, source: 'Build' }, scoped], preflight: [] },
      {
        scripts: {
          one: `mkdir docs; echo x > docs/x; ${done('docs: x', ['docs/x'])}`,
          two: `echo y > y; ${done('feat: y', ['y'])}`,
        },
      },
    );
    await expect(pulse.verify(id)).rejects.toMatchObject({ code: 'not_found' });
    const { session } = await scene.drive(id);
    const before = scratch.git('for-each-ref');

    const report = await pulse.verify(id);
    expect(report).toMatchObject({ verdict: 'fresh', trust: 'verified' });
    // The scoped one was not asked by the second pulse, which changed nothing in it.
    expect(report.checks.map(({ verdict, news, again }) => [verdict, news, again.exit])).toEqual([
      ['fresh', null, 2],
      ['fresh', null, 0],
    ]);

    writeFileSync(flag, '');
    const failing = await pulse.verify(id);
    expect(failing).toMatchObject({
      verdict: 'false',
      trust: 'false',
      checks: [{ verdict: 'false' }, { verdict: 'fresh' }],
    });
    // The first line names the command, which speaks of both.
    const [, ...news] = failing.checks[0]!.news!.split('\n');
    expect(news.join('\n')).toContain('TS2304');
    expect(news.join('\n')).not.toContain('TS2322');
    rmSync(flag);

    expect(scratch.git('for-each-ref')).toBe(before);
    scratch.git('switch', '-q', session.branch_name);
    writeFileSync(join(scratch.repository, 'later'), 'x');
    scratch.git('add', '-A');
    scratch.git('commit', '-q', '-m', 'more');
    const moved = await pulse.verify(id);
    expect(moved).toMatchObject({
      verdict: 'stale',
      trust: 'stale',
      checks: [{ verdict: 'stale' }, { verdict: 'fresh' }],
    });
  }, 60_000);
});
