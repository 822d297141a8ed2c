import { join } from 'node:path';
import { expect, test } from 'vitest';
import { piAdapter } from '../../../src/agents/pi/adapter.ts';
import { makeRun, NO_OPTIONS } from '../fixture.ts';
import { all, describeStreams, last, play } from '../stream-cases.ts';
import { describeFuzz } from '../stream-fuzz.ts';

/** Its exit code tells nothing: it is 0 after every refusal. */
describeStreams(piAdapter, [
  ['task', 0, null],
  ['tool-signal', 0, null],
  ['one-429', 0, null],
  ['cut', 0, null],
  ['limit-words', 0, null],
  ['unauthorized', 0, 'auth'],
  ['bad-request', 0, 'crashed'],
  ['overflow', 0, 'context_overflow'],
  ['rate-limit', 0, 'rate_limit'],
  ['overloaded', 0, 'overloaded'],
  ['refused', 0, 'network'],
  ['interrupted', 'SIGINT', 'crashed'],
]);

const said = (text: string, more: object = {}) =>
  JSON.stringify({
    type: 'message_end',
    message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', ...more },
  });

describeFuzz(piAdapter, {
  says: said,
  calls: (toolCallId) =>
    JSON.stringify({ type: 'tool_execution_start', toolCallId, toolName: 'x', args: {} }),
  answers: (toolCallId, result) => JSON.stringify({ type: 'tool_execution_end', toolCallId, result }),
});

test('each call tells what it spent, and its cost, once', () => {
  const usage = all(play(piAdapter, 'task'), 'usage');
  expect(usage).toHaveLength(5);
  expect(usage[0]).toEqual({
    type: 'usage',
    scope: 'call',
    inputTokens: 800,
    outputTokens: 50,
    cacheTokens: 200,
    contextTokens: 1050,
    costUsd: 0.0014,
  });
  expect(all(play(piAdapter, 'unauthorized'), 'usage')).toEqual([]);
});

test('a cost of nothing is no price known: the list’s is taken, or none', () => {
  const costOf = (model: string) => {
    const prices = { 'my-model': { input: 1, output: 10 } };
    const parser = piAdapter.createParser({ ...NO_OPTIONS, prices });
    const usage = { input: 1_000_000, output: 100_000, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } };
    const events = parser.parse(said('x', { model, usage }));
    return last({ events, end: parser.finish({ code: 0, signal: null }) }, 'usage')?.costUsd;
  };
  expect(costOf('my-model')).toBeCloseTo(2, 8);
  expect(costOf('another')).toBeUndefined();
});

test('a model that is known has a window, so that it is seen how full it is', () => {
  const usageOf = (model: string) => {
    const parser = piAdapter.createParser(NO_OPTIONS);
    const usage = { input: 150_000, output: 100, cacheRead: 0, cacheWrite: 0, cost: { total: 1 } };
    const events = parser.parse(said('x', { model, usage }));
    return last({ events, end: parser.finish({ code: 0, signal: null }) }, 'usage');
  };
  expect(usageOf('claude-sonnet-4-5')).toMatchObject({ contextTokens: 150_100, contextWindow: 200_000 });
  expect(usageOf('my-model')?.contextWindow).toBeUndefined();
});

test('names its model', () => {
  expect(all(play(piAdapter, 'task'), 'started').map(({ model }) => model)).toEqual([
    undefined,
    'fake-model',
  ]);
});

test('tells of retries, with the status where there is one, and when they are over', () => {
  const retries = (name: string) =>
    all(play(piAdapter, name), 'retry').map(({ attempt, status, delayMs }) => [attempt, status, delayMs]);
  expect(retries('rate-limit')).toEqual([
    [1, 429, 2000],
    [2, 429, 4000],
    [3, 429, 8000],
  ]);
  expect(retries('cut')).toEqual([[1, undefined, 2000]]);
  const types = play(piAdapter, 'cut').events.map(({ type }) => type);
  expect(types.filter((type) => type === 'raw' || type === 'retry')).toEqual(['retry', 'raw']);
});

test('the limit of a ChatGPT account is one that ends, where pi names the minutes', () => {
  const now = Date.UTC(2026, 0, 1);
  const refused = (errorMessage: string) => {
    const parser = piAdapter.createParser({ ...NO_OPTIONS, nowMs: () => now });
    const events = parser.parse(said('', { stopReason: 'error', errorMessage }));
    return { events, end: parser.finish({ code: 0, signal: null }) };
  };
  const limit = refused('You have hit your ChatGPT usage limit (plus plan). Try again in ~59 min.');
  const resetAt = new Date(now + 60 * 60_000).toISOString();
  expect(limit.end).toMatchObject({ ok: false, failure: 'usage_limit', resetAt });
  expect(all(limit, 'limit')).toMatchObject([{ resetAt }]);
  const unclear = refused('You have hit your ChatGPT usage limit.');
  expect(unclear.end).toMatchObject({ ok: false, failure: 'rate_limit', resetAt: null });
  expect(all(unclear, 'limit')).toEqual([]);
});

test('what a call said that broke off is not the agent’s message', () => {
  const parser = piAdapter.createParser(NO_OPTIONS);
  parser.parse(said('Half. <signal>COMPLETE</signal>', { stopReason: 'error', errorMessage: 'terminated' }));
  parser.parse('{"type":"agent_end","messages":[]}');
  expect(parser.finish({ code: 0, signal: null })).toMatchObject({
    ok: false,
    failure: 'network',
    finalMessage: '',
  });
});

test('its last line holds everything that was said: cut by the host it is still the end', () => {
  const parser = piAdapter.createParser(NO_OPTIONS);
  parser.parse(said('All done.'));
  expect(parser.parse(`{"type":"agent_end","messages":[{"role":"user" … [cut: 9 more bytes]`)).toEqual([
    { type: 'done', ok: true },
  ]);
  expect(parser.finish({ code: 0, signal: null }).ok).toBe(true);
});

test('an overflow that it got over is none', () => {
  const parser = piAdapter.createParser(NO_OPTIONS);
  parser.parse(said('', { stopReason: 'error', errorMessage: '400 too long' }));
  parser.parse('{"type":"compaction_start","reason":"overflow"}');
  parser.parse(said('Done after all.', { stopReason: 'toolUse' }));
  expect(parser.finish({ code: 1, signal: null }).failure).toBe('crashed');
});

test('a message that was cut at its longest is no success, and says so', () => {
  const parser = piAdapter.createParser(NO_OPTIONS);
  parser.parse(said('x', { stopReason: 'length' }));
  parser.parse('{"type":"agent_end","messages":[]}');
  const { ok, message } = parser.finish({ code: 0, signal: null });
  expect({ ok, message }).toEqual({ ok: false, message: 'The agent exited with code 0 after "length".' });
});

test('starts with the brief on stdin; what it needs of Pulse is in its shell’s environment', () => {
  const run = makeRun({ brief: 'the brief', executable: '/opt/pi' });
  expect(piAdapter.command(run)).toEqual({
    file: '/opt/pi',
    args: ['--mode', 'json', '--print', '--extension', join(run.directory, 'pulse-guard.js')],
    env: { PI_SKIP_VERSION_CHECK: '1' },
    stdin: 'the brief',
    stopSignals: ['SIGTERM', 'SIGINT'],
    files: { 'pulse-guard.js': expect.stringContaining("pi.on('tool_call'") },
  });
  const { args } = piAdapter.command({ ...run, model: 'p/m', resume: 'session-1' });
  expect(args.slice(-4)).toEqual(['--model', 'p/m', '--session', 'session-1']);
});
