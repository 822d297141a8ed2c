/** What the parser makes of streams that the real codex printed (fixtures/codex/<case>.jsonl), and of bent ones. */
import { describe, expect, test } from 'vitest';
import { codexAdapter } from '../../../src/agents/codex/adapter.ts';
import { NO_OPTIONS } from '../fixture.ts';
import {
  all,
  describeStreams,
  describeWholeStreams,
  type End,
  last,
  linesOf,
  play,
} from '../stream-cases.ts';
import { describeFuzz } from '../stream-fuzz.ts';

const ENDS: End[] = [
  ['task', 0, null],
  ['tool-signal', 0, null],
  ['one-429', 0, null],
  ['cut', 0, null],
  ['limit-words', 0, null],
  ['denied', 0, null],
  ['unknown-model', 0, null],
  ['rate-limit', 1, 'rate_limit'],
  ['usage-limit', 1, 'usage_limit'],
  ['overloaded', 1, 'overloaded'],
  ['unauthorized', 1, 'auth'],
  ['no-key', 1, 'auth'],
  ['bad-request', 1, 'crashed'],
  ['overflow', 1, 'context_overflow'],
  ['refused', 'SIGKILL', 'crashed'],
  ['interrupted', 1, 'crashed'],
];

describeStreams(codexAdapter, ENDS);
describeWholeStreams(codexAdapter, { ends: ENDS, spent: { inputTokens: 4800 } });

const CODEX_LINES = {
  says: (text: string) =>
    JSON.stringify({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } }),
  calls: (id: string) =>
    JSON.stringify({ type: 'item.started', item: { id, type: 'command_execution', command: 'x' } }),
  answers: (id: string, aggregated_output: string) =>
    JSON.stringify({
      type: 'item.completed',
      item: {
        id,
        type: 'command_execution',
        command: 'x',
        aggregated_output,
        exit_code: 0,
        status: 'completed',
      },
    }),
  logs: [
    { type: 'turn_context', payload: { model: 'gpt-5.5' } },
    {
      type: 'event_msg',
      payload: {
        type: 'token_count',
        info: { total_token_usage: { input_tokens: 1000, cached_input_tokens: 0, output_tokens: 50 } },
      },
    },
  ],
};

describeFuzz(codexAdapter, CODEX_LINES);

describe('codex', () => {
  test('subtracts what the thread had spent before it was resumed', () => {
    const earlier = { costUsd: null, inputTokens: 800, outputTokens: 50, cacheTokens: 100 };
    const usage = last(play(codexAdapter, 'task', { options: { earlier } }), 'usage');
    expect(usage).toMatchObject({ inputTokens: 4000, outputTokens: 200, cacheTokens: 100 });
  });

  test('knows the cost of a model with a price: the user’s first', () => {
    const prices = { 'my-*': { input: 1, output: 10, cache: 0.5 } };
    const costOf = (model: string) =>
      last(play(codexAdapter, 'task', { options: { model, prices } }), 'usage')?.costUsd;
    expect(costOf('my-model')).toBeCloseTo(0.0048 + 0.0025 + 0.0001, 8);
    expect(costOf('gpt-5')).toBeCloseTo(0.006 + 0.0025 + 0.000025, 8);
    expect(costOf('nobody-knows')).toBeUndefined();
  });

  test('tells of reconnecting as a retry, and not as an end', () => {
    expect(all(play(codexAdapter, 'one-429'), 'retry')).toEqual([{ type: 'retry', attempt: 1, status: 429 }]);
    expect(all(play(codexAdapter, 'rate-limit', { exit: 1 }), 'retry')).toHaveLength(2);
    const refused = play(codexAdapter, 'refused', { exit: 'SIGKILL' });
    expect(all(refused, 'retry').length).toBeGreaterThan(1);
    expect(all(refused, 'done')).toEqual([]);
  });

  test('takes a usage limit’s end from its own message: the coming minute of that name', () => {
    // 2:26 PM, or whenever it was: as the fixture says, in local time.
    const [, hour = '', minute = ''] =
      /try again at (\d+):(\d+) PM/.exec(linesOf(codexAdapter, 'usage-limit').join('\n')) ?? [];
    const before = new Date(2026, 5, 1, 9, 0).getTime();
    const { end } = play(codexAdapter, 'usage-limit', { exit: 1, options: { nowMs: () => before } });
    const expected = new Date(2026, 5, 1, (Number(hour) % 12) + 12, Number(minute) + 1);
    expect(end.resetAt).toBe(expected.toISOString());
    const after = new Date(2026, 5, 1, 23, 0).getTime();
    const late = play(codexAdapter, 'usage-limit', { exit: 1, options: { nowMs: () => after } });
    expect(Date.parse(late.end.resetAt!) - expected.getTime()).toBe(24 * 60 * 60 * 1000);
  });

  test('reads a day too, where the limit ends on another', () => {
    const parser = codexAdapter.createParser(NO_OPTIONS);
    const message = 'You’ve hit your usage limit. Please try again at Dec 3rd, 2026 12:05 AM.';
    parser.parse(JSON.stringify({ type: 'turn.failed', error: { message } }));
    const { resetAt } = parser.finish({ code: 1, signal: null });
    expect(resetAt).toBe(new Date(2026, 11, 3, 0, 6).toISOString());
  });

  test('reads it where a sentence begins with it, as it does for accounts that cannot buy more', () => {
    const parser = codexAdapter.createParser({
      ...NO_OPTIONS,
      nowMs: () => new Date(2026, 10, 15, 23).getTime(),
    });
    const message = 'You’ve hit your usage limit. Try again at Nov 17th, 2026 3:12 PM.';
    parser.parse(JSON.stringify({ type: 'turn.failed', error: { message } }));
    expect(parser.finish({ code: 1, signal: null })).toMatchObject({
      failure: 'usage_limit',
      resetAt: new Date(2026, 10, 17, 15, 13).toISOString(),
    });
  });

  test('tells with whatever it does next that the retries are over, once', () => {
    const parser = codexAdapter.createParser(NO_OPTIONS);
    const seen = [
      { type: 'error', message: 'Reconnecting... 1/5 (unexpected status 503 Service Unavailable)' },
      { type: 'item.completed', item: { id: 'item_0', type: 'reasoning', text: 'hm' } },
      { type: 'item.completed', item: { id: 'item_1', type: 'reasoning', text: 'hm' } },
    ].flatMap((line) => parser.parse(JSON.stringify(line)));
    expect(seen.map(({ type }) => type)).toEqual(['retry', 'raw']);
  });

  test('a command that failed tells its exit and what it printed', () => {
    const parser = codexAdapter.createParser(NO_OPTIONS);
    const item = { id: 'i', type: 'command_execution', command: 'tsc', status: 'failed' };
    const failed = { ...item, exit_code: 2, aggregated_output: 'a.ts(1,1): error TS1: x\n' };
    expect(parser.parse(JSON.stringify({ type: 'item.completed', item: failed }))).toContainEqual(
      expect.objectContaining({ type: 'tool_end', ok: false, exit: 2, output: 'a.ts(1,1): error TS1: x\n' }),
    );
  });

  test('a call that was declined is a denied tool', () => {
    const parser = codexAdapter.createParser(NO_OPTIONS);
    const item = { id: 'i', type: 'command_execution', command: 'touch z', status: 'declined' };
    const events = parser.parse(JSON.stringify({ type: 'item.completed', item }));
    expect(events).toMatchObject([
      { type: 'tool_start', id: 'i' },
      { type: 'tool_end', id: 'i', ok: false },
      { type: 'denied', tool: 'command_execution' },
    ]);
  });

  test('a warning about a model that it does not know is neither a call nor an end', () => {
    const played = play(codexAdapter, 'unknown-model');
    expect(all(played, 'tool_start')).toEqual([]);
    expect(all(played, 'text')).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(all(played, 'done')).toEqual([{ type: 'done', ok: true }]);
  });

  test('a session that is not there is told on stderr alone: crashed', () => {
    const parser = codexAdapter.createParser(NO_OPTIONS);
    const said =
      'Error: thread/resume: thread/resume failed: no rollout found for thread id 0197f3a2-1111-7abc-8def-0123456789ab (code -32600)';
    expect(parser.parseStderr?.(said)).toEqual([]);
    expect(parser.finish({ code: 1, signal: null })).toMatchObject({
      failure: 'crashed',
      message: 'The agent exited with code 1 without saying how it went.',
    });
  });

  test('sees in the log which tool its own rules forbid', () => {
    const stderr =
      '2026-11-15T13:28:25.821575Z ERROR codex_core::tools::router: error=exec_command failed: CreateProcess { message: "Rejected(\\"`/bin/bash -lc \'touch z\'` rejected: no\\")" }';
    expect(all(play(codexAdapter, 'denied', { stderr }), 'denied')).toEqual([
      { type: 'denied', tool: 'exec_command' },
    ]);
    expect(all(play(codexAdapter, 'denied', { stderr: `echo ${stderr}` }), 'denied')).toEqual([]);
  });
});
