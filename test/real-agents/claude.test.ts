import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fault } from '../fakes/model-server/index.ts';
import { describeAgent, describeUsageLimit } from './cases.ts';
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
describeUsageLimit(claude);
describeWorkflow(claude);

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
