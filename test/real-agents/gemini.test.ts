import { expect, test } from 'vitest';
import { describeAgent, describeUsageLimit } from './cases.ts';
import { gemini } from './gemini-subject.ts';
import { makeStage, useModelServer } from './stage.ts';

describeAgent(gemini);
describeUsageLimit(gemini);

const server = useModelServer();

test('a budget of tokens ends a real gemini while it runs, to within one call', async () => {
  const { play } = await makeStage(gemini, server());
  const call = { calls: [gemini.calls.shell('echo more >> log.txt; sleep 1')] };
  const session = await play(
    Array.from({ length: 40 }, () => call),
    { budgetTokens: 2_500 },
  );
  expect(session).toMatchObject({ status: 'blocked', stop_reason: 'budget_tokens' });
  expect(session.total_tokens_used).toBeGreaterThan(2_500);
  expect(session.total_tokens_used).toBeLessThanOrEqual(2_500 + 2 * 1_050);
});
