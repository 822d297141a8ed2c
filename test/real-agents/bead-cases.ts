/** A worker whose agent is real: reservations, refused edits, mail into its run, tests first, a handoff. */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { until } from '../engine/scene.ts';
import type { Step, ToolCall } from '../fakes/model-server/index.ts';
import { makeStage, type Subject, useModelServer } from './stage.ts';

const TEST = `import assert from 'node:assert';
import { existsSync } from 'node:fs';
import test from 'node:test';
test('it is there', () => assert.ok(existsSync('src/one.txt')));`;

/** `window`: of its model, in tokens, as the agent itself tells it; `null`: it tells none, and so never hands over. */
export function describeBeads(subject: Subject, { window }: { window: number | null }): void {
  const { calls } = subject;
  const server = useModelServer();
  const pulse = (name: string, input: Record<string, unknown>): ToolCall => {
    const { tool } = calls.signal('COMPLETE');
    return calls.pulse?.(name, input) ?? { tool: tool.replace('pulse_signal', name), input };
  };
  const done = pulse('bead_done', { summary: 'write it', decisions: [], followUps: [] });
  const full = window === null ? {} : { usage: { input: 0.7 * window, output: 10 } };

  test(`a real ${subject.name} works on beads: scope, reservations, mail, tests first${window === null ? '' : ', a handoff'}`, {
    timeout: 240_000,
  }, async () => {
    const conversations: string[] = [];
    const stage = await makeStage(subject, server(), {
      async trace(point) {
        if (point === 'run_agent:before') stage.rewrite(scripts.shift()!(await worktree()));
        if (point === 'run_agent:after') conversations.push(JSON.stringify(stage.asked().at(-1)?.body));
      },
    });
    const { scene } = stage;
    const { bead, mail, reservations, swarm } = scene.pulse;
    const [started, sent] = [join(scene.folder, 'started'), join(scene.folder, 'sent')];
    const scripts: ((worktree: string) => Step[])[] = [
      (here) => [
        { calls: [pulse('file_reservation_paths', { paths: ['held.txt'] })] },
        { calls: [calls.write(join(here, 'held.txt'), 'x')] },
        { calls: [calls.write(join(here, 'src/one.txt'), 'early')] },
        { calls: [calls.shell(`touch ${started}; until [ -f ${sent} ]; do sleep 0.05; done`)] },
        { calls: [calls.shell(`mkdir -p test && cat > test/one.test.mjs <<'X'\n${TEST}\nX`)] },
        { calls: [pulse('tdd_red', {})] },
        { calls: [calls.write(join(here, 'src/one.txt'), 'one')] },
        { calls: [done], ...full },
        { text: 'That is all.', ...full },
      ],
      (here) => [
        { calls: [calls.write(join(here, 'two.txt'), 'two')] },
        { calls: [done] },
        { text: 'Done.' },
      ],
    ];
    scene.environment.PATH = `${dirname(process.execPath)}:${scene.environment.PATH}`;
    const project_key = scene.root;
    const found = { git: '2', worktrees: true, agents: [], sandbox: false };
    await writeOnboarding(scene.root, { at: '2026-01-01T00:00:00.000Z', found });
    await bead.create({ project_key, id: 'app', title: 'The app', type: 'epic', feature: 'app' });
    await bead.create({
      ...{ project_key, id: 'one', title: 'Write one', epic: 'app' },
      ...{ files: ['src/**', 'test/**'], verify: [{ command: 'node --test' }] },
      ...{ testing_mode: 'tdd-required', tdd_steps: { red: 'node --test', green: 'node --test' } },
    });
    await bead.create({
      ...{ project_key, id: 'two', title: 'Write two', epic: 'app', dependencies: ['one'] },
      ...{ files: ['two.txt'], verify: [{ command: 'test -s two.txt' }] },
    });
    await mail.register({ project_key, name: 'Fox' });
    await reservations.reserve({ project_key, agent_name: 'Fox', paths: ['held.txt'] });
    const { session } = await swarm.start({
      ...{ path: scene.root, epic: 'app', workers: 1, agent: subject.name, createdBy: 'cli' as const },
    });
    async function worktree(): Promise<string> {
      const { workers } = await swarm.show(session.id);
      return (await scene.pulse.session(workers.at(-1)!.sessionId)).worktree_path;
    }

    const running = scene.run(session);
    await until(() => existsSync(started), 60_000);
    const letter = { subject: 'A word', body_md: 'Mind the gap.', topic: 'epic-app' };
    await mail.send({ project_key, sender_name: 'coordinator', to: ['worker-1'], ...letter });
    writeFileSync(sent, '');
    const ended = await running;
    expect(ended, ended.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 2 });

    const { workers, beads } = await swarm.show(session.id);
    const handedOver = { leftFor: 'context_critical', contextUsed: expect.closeTo(0.7, 1) };
    expect(workers).toMatchObject([...(window === null ? [] : [handedOver]), { leftFor: null }]);
    expect(new Set(workers.map(({ mailName }) => mailName))).toEqual(new Set(['worker-1']));
    expect(beads.every(({ status }) => status === 'closed')).toBe(true);
    const { events } = await scene.pulse.export(workers[0]!.sessionId);
    const of = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
    expect(of('agent.denied')).toMatchObject([
      { reason: expect.stringMatching(/held\.txt is not among.*bead one.*request_scope.*reserved by Fox/) },
      { reason: expect.stringMatching(/src\/one\.txt is no test file.*tdd_red/) },
    ]);
    expect(of('mail.delivered')).toMatchObject([{ messages: [{ subject: 'A word' }] }]);
    // What the model itself was told, in this order.
    const [first] = conversations;
    const parts = [
      'Fox holds held.txt',
      'held.txt is not among',
      'is no test file',
      'Mind the gap.',
      'Red is seen',
    ];
    const places = parts.map((part) => first!.indexOf(part));
    expect(places, first).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(first!.split('Mind the gap.')).toHaveLength(2);
    const { messages } = await mail.inbox({ project_key, agent_name: 'coordinator' });
    const subjects = [
      'File conflict on one',
      'Completed one',
      ...(window === null ? [] : ['[HANDOFF] worker-1 / worker-1']),
    ];
    expect(messages.map(({ subject: text }) => text)).toEqual(expect.arrayContaining(subjects));
    const evidence = scene.sh(scene.root, 'show', `${ended.branch_name}:history/app/verification/one.md`);
    expect(evidence).toMatch(/red[\s\S]*green/i);
  });
}
