/** What the parser makes of streams that the real qwen printed (fixtures/qwen/<case>.jsonl), and of bent ones. */
import { describe, expect, test } from 'vitest';
import { qwenAdapter } from '../../../src/agents/qwen/adapter.ts';
import { CLAUDE_LINES } from '../claude/fuzz-lines.ts';
import { NO_OPTIONS } from '../fixture.ts';
import { all, describeStreams, describeWholeStreams, type End, play } from '../stream-cases.ts';
import { describeFuzz } from '../stream-fuzz.ts';

const ENDS: End[] = [
  ['task', 0, null],
  ['tool-signal', 0, null],
  ['limit-words', 0, null],
  ['denied', 0, null],
  ['unauthorized', 0, 'auth'],
  ['bad-request', 0, 'crashed'],
  ['overflow', 0, 'context_overflow'],
  ['refused', 0, 'network'],
  ['cut', 0, 'network'],
  // It retries in silence, until somebody ends it.
  ['rate-limit', 'SIGKILL', 'crashed'],
  ['rate-limit-given-up', 0, 'rate_limit'],
];

describeStreams(qwenAdapter, ENDS);
describeWholeStreams(qwenAdapter, { ends: ENDS, spent: { inputTokens: 4800 } });

describeFuzz(qwenAdapter, CLAUDE_LINES);

describe('qwen', () => {
  test('tells the context of each call; the window is that of its model', () => {
    const usages = all(play(qwenAdapter, 'task'), 'usage');
    expect(usages.find(({ contextTokens }) => contextTokens !== undefined)).toBeDefined();
    expect(usages.at(-1)).toMatchObject({ contextWindow: 262_144 });
  });

  test('tells nothing of its retries', () => {
    const { events } = play(qwenAdapter, 'rate-limit', { exit: 'SIGKILL' });
    expect(events.map(({ type }) => type)).toEqual(['started']);
  });

  test('a refusal counts as one only if no model was paid for it', () => {
    const parser = qwenAdapter.createParser(NO_OPTIONS);
    const text = '[API Error: 401 Unauthorized]';
    const usage = { input_tokens: 10, output_tokens: 5 };
    const content = [{ type: 'text', text }];
    parser.parse(JSON.stringify({ type: 'assistant', message: { id: 'a', model: 'm', content, usage } }));
    parser.parse(JSON.stringify({ type: 'result', is_error: false, subtype: 'success', result: text }));
    expect(parser.finish({ code: 0, signal: null })).toMatchObject({ ok: true, finalMessage: text });
  });

  test('a login that opens nothing any more is told in words of its own', () => {
    const parser = qwenAdapter.createParser(NO_OPTIONS);
    const text = 'Qwen OAuth free tier has been discontinued as of 2026-04-15.\n\nTo continue, use another.';
    const message = { id: 'a', model: 'm', content: [{ type: 'text', text }], usage: {} };
    parser.parse(JSON.stringify({ type: 'assistant', message }));
    parser.parse(JSON.stringify({ type: 'result', is_error: false, subtype: 'success', result: text }));
    expect(parser.finish({ code: 0, signal: null })).toMatchObject({ ok: false, failure: 'auth' });
  });

  test('a refusal that the agent got over is none', () => {
    const parser = qwenAdapter.createParser(NO_OPTIONS);
    const say = (text: string, tokens: number) =>
      parser.parse(
        JSON.stringify({
          type: 'assistant',
          message: {
            id: text,
            model: 'm',
            content: [{ type: 'text', text }],
            usage: { input_tokens: tokens, output_tokens: tokens },
          },
        }),
      );
    say('[API Error: 500 oops]', 0);
    say('Done after all.', 5);
    parser.parse(JSON.stringify({ type: 'result', is_error: false, result: 'Done after all.' }));
    expect(parser.finish({ code: 0, signal: null }).ok).toBe(true);
  });
});
