/** What the parser makes of streams that the real claude printed (fixtures/claude/<case>.jsonl), and of bent ones. */
import { describe, expect, test } from 'vitest';
import { claudeAdapter } from '../../../src/agents/claude/adapter.ts';
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
import { CLAUDE_LINES } from './fuzz-lines.ts';

const ENDS: End[] = [
  ['task', 0, null],
  ['tool-signal', 0, null],
  ['one-429', 0, null],
  ['cut', 0, null],
  ['limit-words', 0, null],
  ['denied', 0, null],
  ['taken-away', 0, null],
  ['rate-limit', 1, 'rate_limit'],
  ['server-limit', 1, 'rate_limit'],
  ['usage-limit', 1, 'usage_limit'],
  ['overloaded', 1, 'overloaded'],
  ['unauthorized', 1, 'auth'],
  ['not-logged-in', 1, 'auth'],
  ['bad-request', 1, 'crashed'],
  ['overflow', 1, 'context_overflow'],
  ['refused', 1, 'network'],
  ['unanswered', 1, 'network'],
  ['no-conversation', 1, 'crashed'],
  ['interrupted', 0, 'crashed'],
  ['terminated', 143, 'crashed'],
  ['woken-up', 0, null],
];

describeStreams(claudeAdapter, ENDS);
describeWholeStreams(claudeAdapter, { ends: ENDS, spent: { inputTokens: 5000, costUsd: 0.01881 } });

describeFuzz(claudeAdapter, CLAUDE_LINES);

describe('claude', () => {
  test('tells each call’s spending while it runs, so that a budget binds', () => {
    const costs = all(play(claudeAdapter, 'task'), 'usage').map(({ costUsd }) => costUsd);
    expect(costs).toHaveLength(6);
    expect(costs.slice(0, 4)).toEqual([1, 2, 3, 4].map((calls) => expect.closeTo(calls * 0.00375, 8)));
    expect(costs.slice(4)).toEqual([expect.closeTo(0.01881, 8), 0.01881]);
  });

  test.each([
    ['counts from its beginning', 2, { costUsd: 0.01131, inputTokens: 3000 }],
    ['counts each run alone', 5, { costUsd: 0.01881, inputTokens: 5000 }],
  ])('is charged once for a session that it goes on with and that %s', (_, ownCalls, charged) => {
    // A total of five calls that holds no more than the run's own cannot hold two earlier ones as well.
    const lines = linesOf(claudeAdapter, 'task');
    let calls = 0;
    const own = lines.filter((line) => !line.includes('"message_delta"') || ++calls <= ownCalls);
    const earlier = { costUsd: 0.0075, inputTokens: 2000, outputTokens: 100, cacheTokens: 0 };
    const parser = claudeAdapter.createParser({ ...NO_OPTIONS, earlier });
    const usage = own.flatMap((line) => parser.parse(line)).findLast((event) => event.type === 'usage');
    expect(usage).toMatchObject({ ...charged, costUsd: expect.closeTo(charged.costUsd, 8) });
  });

  test('tells of retries with their status', () => {
    expect(all(play(claudeAdapter, 'one-429'), 'retry')).toEqual([
      { type: 'retry', attempt: 1, status: 429, delayMs: 1000 },
    ]);
    expect(all(play(claudeAdapter, 'refused', { exit: 1 }), 'retry')).toMatchObject([
      { attempt: 1, status: undefined },
      { attempt: 2, status: undefined },
    ]);
  });

  test('tells with the first piece of an answer that the retries are over, once', () => {
    const { events } = play(claudeAdapter, 'one-429');
    const after = events.slice(events.findIndex(({ type }) => type === 'retry') + 1).map(({ type }) => type);
    expect(after.slice(0, 2)).toEqual(['raw', 'text']);
    expect(all(play(claudeAdapter, 'rate-limit', { exit: 1 }), 'raw')).toEqual([]);
  });

  test('takes a usage limit’s end from the field, not from the words', () => {
    const played = play(claudeAdapter, 'usage-limit', { exit: 1 });
    const limits = all(played, 'limit');
    expect(limits).toHaveLength(1);
    expect(played.end.resetAt).toBe(limits[0]?.resetAt);
    expect(played.end.resetAt).toMatch(/^2026-11-15T14:\d\d:\d\d\.000Z$/);
  });

  test('a refusal is never the agent’s final message', () => {
    for (const name of ['rate-limit', 'usage-limit', 'unauthorized', 'overflow']) {
      const played = play(claudeAdapter, name, { exit: 1 });
      expect(all(played, 'text')).toEqual([]);
      expect(played.end.finalMessage).toBe('');
    }
  });

  test('names the tools that were denied, by rule or taken away as a whole', () => {
    expect(all(play(claudeAdapter, 'denied'), 'denied').map(({ tool }) => tool)).toEqual(['Write', 'Bash']);
    expect(all(play(claudeAdapter, 'taken-away'), 'denied').map(({ tool }) => tool)).toEqual([
      'Write',
      'Bash',
    ]);
  });

  test('a tool that Pulse itself has taken away is an ordinary failed call', () => {
    const parser = claudeAdapter.createParser(NO_OPTIONS);
    const called = (name: string) => {
      const content = `<tool_use_error>Error: No such tool available: ${name}. ${name} is disabled`;
      const call = { type: 'tool_use', id: name, name, input: {} };
      const result = { type: 'tool_result', tool_use_id: name, is_error: true, content };
      return [
        { type: 'system', subtype: 'init', tools: ['Bash'] },
        { type: 'assistant', message: { id: name, content: [call] } },
        { type: 'user', message: { content: [result] } },
      ].flatMap((line) => parser.parse(JSON.stringify(line)));
    };
    expect(called('ScheduleWakeup').filter(({ type }) => type === 'denied')).toEqual([]);
    expect(called('Write').filter(({ type }) => type === 'denied')).toEqual([
      { type: 'denied', tool: 'Write' },
    ]);
  });

  test('keeps what an interrupted run spent', () => {
    expect(last(play(claudeAdapter, 'interrupted'), 'usage')).toMatchObject({ costUsd: 0.00375 });
    expect(last(play(claudeAdapter, 'terminated', { exit: 143 }), 'usage')).toMatchObject({
      inputTokens: 1000,
    });
  });

  test('closes a call whose answer is too long to read when the next message comes', () => {
    const lines = linesOf(claudeAdapter, 'task');
    const parser = claudeAdapter.createParser(NO_OPTIONS);
    const events = lines.flatMap((line) =>
      parser.parse(line.includes('"tool_result"') ? `${line.slice(0, 60)} … [cut: 9 more bytes]` : line),
    );
    const spoken = events.findLastIndex(({ type }) => type === 'text');
    const ended = events.slice(0, spoken).filter(({ type }) => type === 'tool_end');
    expect(ended).toHaveLength(5);
  });

  test.each([
    ['Exit code 2\na.ts(1,1): error TS1: x', { exit: 2, output: 'a.ts(1,1): error TS1: x' }],
    ['Exit code 2\na\n\n... [12 lines truncated] ...\n\nz', {}],
    ['Permission to use Bash has been denied.', {}],
  ])(
    'a command that failed tells its exit and what it printed, if that is all of it: %j',
    (content, told) => {
      const parser = claudeAdapter.createParser(NO_OPTIONS);
      const call = { type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'tsc' } };
      parser.parse(JSON.stringify({ type: 'assistant', message: { id: 'm', content: [call] } }));
      const result = { type: 'tool_result', tool_use_id: 'c', is_error: true, content };
      expect(parser.parse(JSON.stringify({ type: 'user', message: { content: [result] } }))).toEqual([
        { type: 'tool_end', id: 'c', name: 'Bash', ok: false, ...told },
      ]);
    },
  );

  test('a limit without an end, or with one that is no time, is a limit all the same', () => {
    const parser = claudeAdapter.createParser(NO_OPTIONS);
    const info = { status: 'rejected', resetsAt: 1e18 };
    expect(parser.parse(JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info }))).toEqual([]);
    const message = { id: 'm', model: '<synthetic>', content: [] };
    const refused = { type: 'assistant', error: 'rate_limit', api_error: 'usage_limit_reached', message };
    parser.parse(JSON.stringify(refused));
    parser.parse(
      JSON.stringify({ type: 'result', is_error: true, subtype: 'success', api_error_status: 429 }),
    );
    expect(parser.finish({ code: 1, signal: null })).toMatchObject({ failure: 'usage_limit', resetAt: null });
  });

  test.each([
    ['billing_error', 400, 'auth'],
    ['oauth_org_not_allowed', null, 'auth'],
    ['server_error', 402, 'auth'],
    ['server_error', 408, 'network'],
    ['server_error', null, 'network'],
    ['invalid_request', 400, 'crashed'],
  ])('a refusal as %s with status %s is %s', (error, api_error_status, failure) => {
    const parser = claudeAdapter.createParser(NO_OPTIONS);
    const message = { id: 'm', model: '<synthetic>', content: [] };
    parser.parse(JSON.stringify({ type: 'assistant', error, message }));
    parser.parse(JSON.stringify({ type: 'result', is_error: true, subtype: 'success', api_error_status }));
    expect(parser.finish({ code: 1, signal: null })).toMatchObject({ ok: false, failure });
  });

  test('a second result’s cost holds the first’s: it is not counted twice', () => {
    const parser = claudeAdapter.createParser(NO_OPTIONS);
    const result = (turns: number, text: string) =>
      parser.parse(
        JSON.stringify({
          type: 'result',
          is_error: false,
          result: text,
          total_cost_usd: turns * 0.027,
          // By turn, whereas the sums by model are the process's.
          usage: { input_tokens: 100, output_tokens: 10 },
          modelUsage: { 'claude-sonnet-4-5': { inputTokens: turns * 100, outputTokens: turns * 10 } },
        }),
      );
    const events = [...result(1, 'First.'), ...result(2, 'Second.')];
    expect(events.filter(({ type }) => type === 'done')).toHaveLength(1);
    expect(events.findLast(({ type }) => type === 'usage')).toMatchObject({
      scope: 'cumulative',
      costUsd: 0.054,
      inputTokens: 200,
      outputTokens: 20,
    });
    expect(parser.finish({ code: 0, signal: null })).toMatchObject({ ok: true, finalMessage: 'Second.' });
  });

  test('what it begins after its result takes nothing from it, however that ends', () => {
    const { end } = play(claudeAdapter, 'woken-up');
    expect(end.finalMessage).toBe('Done.\n<signal>COMPLETE</signal>');
    const lines = linesOf(claudeAdapter, 'task');
    const later = (text: string) =>
      JSON.stringify({ type: 'assistant', message: { id: 'later', content: [{ type: 'text', text }] } });
    const refused = { type: 'result', is_error: true, subtype: 'success', api_error_status: 529 };
    const endAfter = (...more: string[]) => {
      const parser = claudeAdapter.createParser(NO_OPTIONS);
      for (const line of [...lines, ...more]) parser.parse(line);
      return parser.finish({ code: 0, signal: null });
    };
    const ended = { ok: true, finalMessage: 'All done.\n<signal>COMPLETE</signal>' };
    expect(endAfter(later('Let me look again.'))).toMatchObject(ended);
    // But a turn of its own that fails is one.
    expect(endAfter(later('Let me see.'), JSON.stringify(refused))).toMatchObject({ failure: 'overloaded' });
  });

  test('reads the result wherever its fields stand', () => {
    const result = { zzz: 1, result: 'Done.', is_error: false, subtype: 'success', type: 'result' };
    const parser = claudeAdapter.createParser(NO_OPTIONS);
    expect(parser.parse(JSON.stringify(result))).toEqual([{ type: 'done', ok: true }]);
    expect(parser.finish({ code: 0, signal: null })).toMatchObject({ ok: true, finalMessage: 'Done.' });
  });

  test('what a subagent says is not what the agent says', () => {
    const parser = claudeAdapter.createParser(NO_OPTIONS);
    const message = (parent: string | null, text: string) =>
      parser.parse(
        JSON.stringify({
          type: 'assistant',
          parent_tool_use_id: parent,
          message: { id: text, model: 'm', content: [{ type: 'text', text }] },
        }),
      );
    message(null, 'mine');
    expect(message('call_1', '<signal>COMPLETE</signal>')).toEqual([]);
    expect(parser.finish({ code: 0, signal: null }).finalMessage).toBe('mine');
  });
});
