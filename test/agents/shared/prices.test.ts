import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import list from '../../../src/agents/shared/prices.json' with { type: 'json' };
import { costOf } from '../../../src/agents/shared/prices.ts';
import { pricesSchema } from '../../../src/domain/attempt.ts';

const TOKENS = { inputTokens: 1_000_000, outputTokens: 100_000, cacheTokens: 10_000 };

test('the list of prices is one that a config could hold, and each model of it has a cost', () => {
  const models = pricesSchema.parse(list.models);
  for (const [name, { input, output, cache = input }] of Object.entries(models)) {
    const cost = costOf(name.replace('*', ''), TOKENS, {});
    expect(cost).toBeCloseTo(input + output / 10 + cache / 100, 8);
  }
});

test('the documents name the day of the list', () => {
  expect(list.asOf).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(readFileSync('docs/agents.md', 'utf8')).toContain(`list prices as of ${list.asOf} `);
});
