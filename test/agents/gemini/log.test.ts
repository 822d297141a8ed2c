import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findGeminiLog } from '../../../src/agents/gemini/log.ts';
import { createGeminiParser } from '../../../src/agents/gemini/stream.ts';
import { makeFolder } from '../fixture.ts';

const ID = '4d6f212c-4573-7792-baa5-1c84917477da';
const BEGAN = Date.UTC(2026, 10, 15, 12);

const call = (id: string, { atMs = BEGAN, ...more }: { atMs?: number; toolCalls?: unknown[] } = {}) =>
  JSON.stringify({
    ...{
      id,
      timestamp: new Date(atMs).toISOString(),
      type: 'gemini',
      content: '',
      model: 'gemini-2.5-flash',
    },
    tokens: { input: 1000, output: 40, cached: 100, thoughts: 10, tool: 0, total: 1050 },
    ...more,
  });
const END = JSON.stringify({
  type: 'result',
  status: 'success',
  stats: { total_tokens: 9, input_tokens: 9 },
});

function createParser() {
  return createGeminiParser({ model: null, earlier: null, prices: {}, nowMs: () => BEGAN });
}

describe('gemini’s own log', () => {
  test('tells each call of this run once, until the stream tells the sum', () => {
    const parser = createParser();
    const parse = (line: string) => parser.parseLog!(line);
    const usage = { type: 'usage', scope: 'call', inputTokens: 900, outputTokens: 50, cacheTokens: 100 };
    expect(parse(call('before', { atMs: BEGAN - 1 }))).toEqual([]);
    const context = { contextTokens: 1050, contextWindow: 1_048_576 };
    expect(parse(call('a'))).toEqual([{ ...usage, ...context, costUsd: expect.closeTo(0.000398, 8) }]);
    expect(parse(call('a', { toolCalls: [{}] }))).toEqual([]);
    expect(parse(call('b'))).toHaveLength(1);
    parser.parse(END);
    // The log may come later than the end of the stream.
    expect(parse(call('c'))).toEqual([{ type: 'usage', scope: 'call', ...context }]);
    expect(parse(call('c'))).toEqual([]);
  });

  test('says how full the context is by the last call, where the model’s window is known', () => {
    const parser = createParser();
    parser.parseLog!(call('a'));
    const full = JSON.parse(call('b')) as { tokens: object; model: string };
    const tokens = {
      input: 700_000,
      output: 3_000,
      cached: 690_000,
      thoughts: 2_000,
      tool: 0,
      total: 705_000,
    };
    const told = (model: string) =>
      parser.parseLog!(JSON.stringify({ ...full, id: model, model, tokens }))[0];
    expect(told('gemini-2.5-pro')).toMatchObject({ contextTokens: 705_000, contextWindow: 1_048_576 });
    expect(told('gemini-3-pro-preview')).toMatchObject({ contextWindow: 1_048_576 });
    expect(told('nobody-knows')).toMatchObject({ contextTokens: 705_000 });
    expect(told('nobody-knows-2')).toMatchObject({ contextWindow: undefined });
  });

  test.each(['', 'text', '{"type":"gemini"}', call('x').replace('"gemini"', '"user"')])(
    'tells nothing by %j',
    (line) => {
      expect(createParser().parseLog!(line)).toEqual([]);
    },
  );

  test('is found by the beginning of the session’s id, the newest first', () => {
    const home = makeFolder({});
    expect(findGeminiLog(ID, { HOME: home })).toBeNull();
    const file = (project: string, atS: number) => {
      const chats = join(home, '.gemini/tmp', project, 'chats');
      mkdirSync(chats, { recursive: true });
      const path = join(chats, 'session-2026-11-15T12-00-4d6f212c.jsonl');
      writeFileSync(path, '');
      utimesSync(path, atS, atS);
      return path;
    };
    file('old', 1_000);
    const newest = file('new', 2_000);
    expect(findGeminiLog(ID, { HOME: home })).toBe(newest);
    expect(findGeminiLog(ID, { GEMINI_CLI_HOME: home, HOME: '/nowhere' })).toBe(newest);
    expect(findGeminiLog('another', { HOME: home })).toBeNull();
  });
});
