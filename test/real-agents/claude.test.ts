import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Fault, ToolCall } from '../fakes/model-server/index.ts';
import { describeBeads } from './bead-cases.ts';
import { describeAgent, describeReadme, describeUsageLimit } from './cases.ts';
import { describeReview } from './review-cases.ts';
import { makeStage, type Subject, useModelServer } from './stage.ts';
import { describeWorkflow } from './workflow-cases.ts';

const claude: Subject = {
  name: 'claude',
  user: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'dummy',
    ANTHROPIC_MODEL: 'claude-sonnet-4-5',
  }),
  subscriber: (url) => ({ ANTHROPIC_BASE_URL: url, CLAUDE_CODE_OAUTH_TOKEN: 'dummy' }),
  forbid(home) {
    mkdirSync(join(home, '.claude'), { recursive: true });
    const permissions = { deny: ['Bash(touch:*)'] };
    writeFileSync(join(home, '.claude/settings.json'), JSON.stringify({ permissions }));
  },
  calls: {
    read: (file_path) => ({ tool: 'Read', input: { file_path } }),
    edit: (file_path, { from, to }) => ({
      tool: 'Edit',
      input: { file_path, old_string: from, new_string: to },
    }),
    write: (file_path, content) => ({ tool: 'Write', input: { file_path, content } }),
    shell: (command) => ({ tool: 'Bash', input: { command, description: 'a step' } }),
    signal: (signal) => ({ tool: 'pulse_signal', input: { signal } }),
  },
  costOfCall: 0.00375, // 1000 tokens in and 50 out
  quietMs: 10_000,
  tellsRetries: true,
};

describeAgent(claude);
describeReadme(claude);
describeUsageLimit(claude);
describeWorkflow(claude);
describeBeads(claude, { window: 200_000 });
describeReview(claude);

const server = useModelServer();

test.each<[string, Fault, (number | undefined)[]]>([
  ['a connection that is reset', { kind: 'reset' }, [undefined]],
  ['two answers of 529', { kind: 'status', status: 529, times: 2 }, [529, 529]],
  // It asks again without a word on it.
  ['an error in the middle of an answer', { kind: 'stream_error' }, []],
])('a real claude gets over %s, and is charged for one call', async (_, fault, statuses) => {
  const { scene, play } = await makeStage(claude, server());
  const session = await play([{ faults: [fault], text: 'Done.\n\n<signal>COMPLETE</signal>' }]);
  expect(session).toMatchObject({
    status: 'complete',
    stop_reason: 'completed',
    spent_usd: expect.closeTo(0.00375, 6),
  });
  const retries = (await scene.events(session)).filter(({ type }) => type === 'agent.retry');
  expect(retries.map(({ data }) => data.status ?? undefined)).toEqual(statuses);
});

test('a budget ends a real claude while it runs, to within one call', async () => {
  const { play } = await makeStage(claude, server());
  const call = { calls: [claude.calls.shell('echo more >> log.txt')] };
  const session = await play(
    Array.from({ length: 40 }, () => call),
    { budgetUsd: 0.008 },
  );
  expect(session).toMatchObject({ status: 'blocked', stop_reason: 'budget_cost' });
  expect(session.spent_usd).toBeGreaterThan(0.008);
  expect(session.spent_usd).toBeLessThanOrEqual(0.008 + 2 * 0.00375);
});

describe('what a real claude leaves running behind its result', () => {
  const inBackground = (command: string): ToolCall => ({
    tool: 'Bash',
    input: { command, description: 'a step', run_in_background: true },
  });

  test('is not offered to it: it would be woken up by it when the run is over', async () => {
    const { scene, play, asked } = await makeStage(claude, server());
    const session = await play([
      { calls: [inBackground('sleep 415; echo over')] },
      { text: 'Done.\n\n<signal>COMPLETE</signal>' },
    ]);
    expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed' });
    expect(JSON.stringify(asked()[0]?.body.tools).includes('run_in_background')).toBe(false);
    const ends = (await scene.events(session)).filter(({ type }) => type === 'iteration.ended');
    expect(ends).toHaveLength(1);
  });

  test('is none of the tools that wake it up later, or lead it out of the worktree', async () => {
    const { scene, play, asked } = await makeStage(claude, server());
    const session = await play([
      { calls: [{ tool: 'ScheduleWakeup', input: { delaySeconds: 60, reason: 'x', prompt: 'x' } }] },
      { calls: [{ tool: 'EnterWorktree', input: { name: 'own' } }] },
      { text: 'Done.\n\n<signal>COMPLETE</signal>' },
    ]);
    // Nothing was changed, and yet it is no `denied`: that it has them not is Pulse's own rule.
    expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed' });
    const tools = JSON.stringify(asked()[0]?.body);
    const names = ['ScheduleWakeup', 'CronCreate', 'EnterWorktree', 'Monitor'];
    expect(names.filter((name) => tools.includes(`"${name}"`))).toEqual([]);
    expect(scene.sh(scene.root, 'branch', '--format=%(refname:short)').split('\n')).toHaveLength(2);
  });

  test('wakes it up all the same: ended in the middle of that turn, its result stands', async () => {
    const wrapper = 'unset CLAUDE_CODE_DISABLE_BACKGROUND_TASKS; exec "$REAL" "$@"';
    const { scene, play, asked } = await makeStage(claude, server(), { wrapper });
    const session = await play([
      { calls: [inBackground('sleep 7; echo over'), claude.calls.shell('echo kept > kept.txt')] },
      // Longer than what is left of the time to exit when it asks for the second time.
      { delayMs: 5_000, text: 'Done.\n\n<signal>COMPLETE</signal>' },
    ]);
    expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed', total_commits: 1 });
    expect(asked()).toHaveLength(3);
    const ends = (await scene.events(session)).filter(({ type }) => type === 'iteration.ended');
    expect(ends).toMatchObject([{ data: { ok: true } }]);
  });
});
