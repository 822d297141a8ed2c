import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { findCodexLog } from '../../../src/agents/codex/log.ts';
import { createCodexParser } from '../../../src/agents/codex/stream.ts';
import type { Usage } from '../../../src/domain/attempt.ts';
import { followLog } from '../../../src/engine/run/log-follower.ts';
import { makeFolder } from '../fixture.ts';

const ID = '01a1e01f-4573-7792-baa5-1c84917477da';
const context = (model: string) => JSON.stringify({ type: 'turn_context', payload: { model } });
const tokens = (input: number, output: number, cached = 0) =>
  JSON.stringify({
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: {
        total_token_usage: {
          input_tokens: input,
          cached_input_tokens: cached,
          output_tokens: output,
        },
      },
    },
  });

function createParser({
  model = null,
  earlier = null,
}: {
  model?: string | null;
  earlier?: Usage | null;
} = {}) {
  const parser = createCodexParser({ model, earlier, prices: {}, nowMs: Date.now });
  return (line: string) => parser.parseLog!(line);
}

describe('codex’s own log', () => {
  test('tells the model, and what was used after each call, each once', () => {
    const parse = createParser();
    expect(parse(context('gpt-5.5'))).toEqual([{ type: 'started', model: 'gpt-5.5' }]);
    expect(parse(context('gpt-5.5'))).toEqual([]);
    const usage = {
      type: 'usage',
      scope: 'cumulative',
      inputTokens: 900,
      outputTokens: 50,
      cacheTokens: 100,
    };
    expect(parse(tokens(1000, 50, 100))).toEqual([{ ...usage, costUsd: expect.closeTo(0.00605, 8) }]);
    expect(parse(tokens(1000, 50, 100))).toEqual([]);
    expect(parse(tokens(2000, 100, 100))).toMatchObject([{ inputTokens: 1900, outputTokens: 100 }]);
  });

  test('of a session that goes on counts only what is new', () => {
    const earlier = { costUsd: null, inputTokens: 1000, outputTokens: 50, cacheTokens: 0 };
    const parse = createParser({ model: 'nobody-knows', earlier });
    expect(parse(tokens(1000, 50))).toMatchObject([{ inputTokens: 0, outputTokens: 0 }]);
    const [event] = parse(tokens(1700, 80));
    expect(event).toMatchObject({ inputTokens: 700, outputTokens: 30 });
    expect(event).not.toHaveProperty('costUsd');
  });

  test.each(['', 'text', '{', '{"type":"event_msg","payload":{"type":"token_count","info":null}}', '[]'])(
    'tells nothing by %j',
    (line) => {
      expect(createParser()(line)).toEqual([]);
    },
  );

  test('is found under the day the session began, wherever codex has its files', () => {
    const home = makeFolder({});
    const name = `rollout-2026-11-15T16-51-48-${ID}.jsonl`;
    expect(findCodexLog(ID, { HOME: home })).toBeNull();
    for (const day of ['2025/12/31', '2026/11/02', '2026/11/15']) {
      mkdirSync(join(home, '.codex/sessions', day), { recursive: true });
    }
    const file = join(home, '.codex/sessions/2026/11/02', name);
    writeFileSync(file, '');
    expect(findCodexLog(ID, { HOME: home })).toBe(file);
    expect(findCodexLog(ID, { CODEX_HOME: join(home, '.codex'), HOME: '/nowhere' })).toBe(file);
    expect(findCodexLog('another', { HOME: home })).toBeNull();
  });
});

describe('following a log', () => {
  test('waits for the file, reads what is appended by whole lines, and survives its end', async () => {
    const file = join(makeFolder({}), 'log.jsonl');
    const lines: string[] = [];
    let isThere = false;
    await using log = followLog(
      () => (isThere ? file : null),
      (line) => lines.push(line),
    );
    await log.look();
    writeFileSync(file, 'one\ntw');
    isThere = true;
    await vi.waitFor(() => expect(lines).toEqual(['one']));
    appendFileSync(file, 'o\nthree\n');
    await log.look();
    expect(lines).toEqual(['one', 'two', 'three']);
    rmSync(file);
    await log.look();
    expect(lines).toHaveLength(3);
  });

  test('of a file that cannot be read tells nothing', async () => {
    await using log = followLog(
      () => '/nowhere/at/all',
      () => expect.unreachable(),
    );
    await log.look();
  });
});
