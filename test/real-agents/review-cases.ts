/** A real agent as the second opinion: it reads in a room, can change nothing there, and says its verdict by a tool. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMPLETE } from '../engine/scene.ts';
import type { Step, ToolCall } from '../fakes/model-server/index.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { makeStage, type Subject, useModelServer } from './stage.ts';

export function describeReview(subject: Subject): void {
  const { calls } = subject;
  const server = useModelServer();
  const pulse = (name: string, input: Record<string, unknown>): ToolCall => {
    const { tool } = calls.signal('COMPLETE');
    return calls.pulse?.(name, input) ?? { tool: tool.replace('pulse_signal', name), input };
  };

  test(`a real ${subject.name} gives a second opinion, and only reads`, { timeout: 240_000 }, async () => {
    const conversations: string[] = [];
    const scripts: (() => Step[])[] = [
      () => [
        { calls: [pulse('read_file', { path: 'a.txt' })] },
        { calls: [calls.write(join(tree(), 'planted.txt'), 'x')] },
        { calls: [calls.shell(`touch ${join(stage.scene.folder, 'touched')}`)] },
        { calls: [verdict(false, ['a.txt is as it was.'])] },
        { text: 'It does not do what was asked.' },
      ],
      () => [{ calls: [verdict(true, [])] }, { text: 'It does.' }],
    ];
    const verdict = (accept: boolean, reasons: string[]): ToolCall =>
      pulse('review_verdict', {
        ...{ accept, reasons },
        claims: [{ text: 'a.txt was changed', verdict: accept ? 'true' : 'false', where: 'a.txt:1' }],
      });
    const stage = await makeStage(subject, server(), {
      files: { 'a.txt': 'marked by nobody else\n' },
      async trace(point) {
        if (point !== 'run_agent:before') return;
        if (stage.asked().length > 0) conversations.push(JSON.stringify(stage.asked().at(-1)!.body));
        const next = scripts.shift();
        if (next) stage.rewrite(next());
      },
    });
    const { scene } = stage;
    const settings = { verify: ['test -s a.txt'], review: { agent: subject.name } };
    await writeTrustedConfig(scene.root, { text: JSON.stringify(settings), environment: scene.environment });
    let sessionId = '';
    const tree = (): string => join(scene.environment.PULSE_HOME!, 'rooms', sessionId, 'tree');
    const work = `[ "$PULSE_ITERATION" = 1 ] && echo x > b.txt || echo second > a.txt; ${COMPLETE}`;
    const { session } = await scene.pulse.start({
      ...{ goal: 'Change a.txt.', path: scene.root, command: work, maxIterations: 3 },
      createdBy: 'cli',
    });
    sessionId = session.id;
    const ended = await scene.run(session);
    expect(ended, ended.blocked_reason ?? '').toMatchObject({ status: 'complete', current_iteration: 2 });

    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations.map(({ outcome }) => outcome)).toEqual(['rejected', 'completed']);
    expect(iterations[1]!.task_content).toContain('Second opinion: a.txt is as it was.');
    const { judgement } = await scene.pulse.showChecks(session.id);
    expect(judgement.opinion).toMatchObject({
      agent: subject.name,
      accept: true,
      claims: [{ verdict: 'true' }],
    });
    const { events } = await scene.pulse.export(session.id);
    const reviews = events.filter(({ type }) => type === 'iteration.reviewed').map(({ data }) => data.accept);
    expect(reviews).toEqual([false, true]);
    // Its spending is the session's.
    expect(ended.total_tokens_used).toBeGreaterThan(0);
    const [first] = conversations;
    expect(first!.split('This run only reads')).toHaveLength(3);
    expect(first!.slice(first!.indexOf('read_file'))).toContain('marked by nobody else');
    expect(existsSync(join(tree(), 'planted.txt'))).toBe(false);
    expect(existsSync(join(scene.folder, 'touched'))).toBe(false);
    expect(scene.sh(scene.root, 'ls-tree', '--name-only', ended.branch_name)).not.toContain('planted');
  });
}
