/** A whole workflow by a real agent: old faults ignored, new ones refused, the hatch, a person, the merge. */
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Step } from '../fakes/model-server/index.ts';
import {
  badModule,
  FAULTY_CHECKS,
  FAULTY_FILES,
  goodModule,
  PROGRAMS,
  TYPE_CHECK,
} from '../fakes/old-faults.ts';
import { makeStage, type Subject, useModelServer } from './stage.ts';

export function describeWorkflow(subject: Subject): void {
  const { calls } = subject;
  const server = useModelServer();
  const write = (path: string, text: string): Step => ({ calls: [calls.shell(`echo '${text}' > ${path}`)] });
  const done = (input: Record<string, unknown>): Step => {
    const { tool } = calls.signal('COMPLETE');
    const call = { tool: tool.replace('pulse_signal', 'pulse_done'), input };
    return { calls: [calls.pulse?.('pulse_done', input) ?? call] };
  };
  const over: Step = { text: 'That is all.' };

  const unresolvedIssues = [{ issue: 'leave has the wrong type', reason: 'a person must choose one' }];
  const leave = { summary: 'feat: leave', filesChanged: ['src/leave.ts'] };
  const scripts: Record<string, Step[]> = {
    greet: [
      write('src/greet.ts', badModule('greet')),
      { calls: [calls.shell(TYPE_CHECK)] },
      done({ summary: 'Added a greeting', filesChanged: ['src/other.ts'] }),
      write('src/greet.ts', goodModule('greet')),
      // Both fail as they did before the first pulse, which is held against nobody: a check, and one like it.
      { calls: [calls.shell(TYPE_CHECK)] },
      { calls: [calls.shell(`${process.execPath} ${join(PROGRAMS, TYPE_CHECK)}`)] },
      done({ summary: 'feat: greet', filesChanged: ['src/greet.ts'] }),
      over,
    ],
    leave: [
      write('src/leave.ts', badModule('leave')),
      done(leave),
      done(leave),
      done({ ...leave, unresolvedIssues }),
      over,
    ],
    last: [write('last.txt', 'last'), done({ summary: 'docs: last', filesChanged: ['last.txt'] }), over],
  };

  test(`a whole workflow by a real ${subject.name}`, { timeout: 240_000 }, async () => {
    const planned = Object.keys(scripts);
    let unit = -1;
    const stage = await makeStage(subject, server(), {
      files: FAULTY_FILES,
      trace: (point) => {
        if (point === 'run_agent:before') stage.rewrite(scripts[planned[++unit]!]!);
      },
    });
    const { scene, told } = stage;
    scene.environment.PATH = `${dirname(process.execPath)}:${PROGRAMS}:${scene.environment.PATH}`;
    const { workflow } = scene.pulse;
    const { session } = await workflow.start({
      plan: {
        title: 'Greet and leave',
        pulses: planned.map((id) => ({ id, title: `The pulse ${id}`, description: `Do ${id}.` })),
        verify: FAULTY_CHECKS,
        preflight: [],
      },
      path: scene.root,
      agent: subject.name,
      createdBy: 'cli',
      actor: 'test',
      isApproved: true,
    });
    const halted = await scene.run(session);
    expect(halted, halted.blocked_reason ?? '').toMatchObject({
      status: 'blocked',
      stop_reason: 'unresolved_issues',
    });

    const { pulses, baseline, preflight } = await workflow.rows(session.id);
    expect(preflight).toMatchObject({ status: 'completed', build_success: 0 });
    expect(baseline.map(({ source, filePath }) => [source, filePath])).toEqual(
      expect.arrayContaining([
        ['Build', 'src/legacy.ts'],
        ['Test', 'test/legacy.test.js'],
      ]),
    );
    expect(pulses).toMatchObject([
      { status: 'succeeded', rejections: 1, has_unresolved_issues: 0, description: 'feat: greet' },
      { status: 'succeeded', rejections: 2, has_unresolved_issues: 1, unresolved_issues: unresolvedIssues },
      { status: 'proposed' },
    ]);
    const rejected = (await scene.events(session)).filter(({ type }) => type === 'pulse.rejected');
    const reasons = rejected.map(({ data }) => (data.reasons as string[]).join('\n'));
    expect(rejected[0]!.data.reasons).toHaveLength(4);
    for (const part of [
      'Conventional Commit',
      'missing: src/greet.ts',
      'not changed: src/other.ts',
      'TS2322',
    ])
      expect(reasons[0]).toContain(part);
    expect(reasons[0]).toContain(`shell ${TYPE_CHECK}`);
    expect(reasons.join('\n')).not.toContain('legacy');

    // What the model was told: the reply to the first rejection does not name the hatch, the one to the second does.
    expect(told(2)).toContain('Not accepted yet');
    expect(told(2)).not.toContain('unresolvedIssues');
    expect(told(3)).toContain('call pulse_done with unresolvedIssues');

    await scene.pulse.resume(session.id, { actor: 'test' });
    const waiting = await scene.run(session);
    expect(waiting).toMatchObject({ stop_reason: 'approval_required', total_commits: 3 });
    const { merged } = await workflow.review(session.id, { approve: true, merge: 'ff', actor: 'test' });
    expect(merged).toMatchObject({ base: 'main' });
    expect(await scene.run(session)).toMatchObject({ status: 'complete', stop_reason: 'completed' });
    const log = scene.sh(scene.root, 'log', '--reverse', '--format=%s|%P', 'main').split('\n');
    expect(log.map((line) => line.split('|')[0]).slice(1)).toEqual([
      'feat: greet',
      'feat: leave',
      'docs: last',
    ]);
    expect(log.every((line) => !line.split('|')[1]!.includes(' '))).toBe(true);
    expect(scene.sh(scene.root, 'status', '--porcelain')).toBe('');
    expect(scene.sh(scene.root, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(scene.refs('refs/heads/')).toEqual(['refs/heads/main', `refs/heads/${session.branch_name}`]);
  });
}
