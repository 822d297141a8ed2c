/** The `acp` agent with a program that really speaks the protocol (fixtures/acp-agent.ts), as the host runs it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PermissionOptionKind, RequestError } from '@agentclientprotocol/sdk';
import { describe, expect, test } from 'vitest';
import { acpAdapter } from '../../../src/agents/acp/adapter.ts';
import { classifyFailure } from '../../../src/agents/acp/failure.ts';
import { answerPermission } from '../../../src/agents/acp/permission.ts';
import { createUpdateReader } from '../../../src/agents/acp/updates.ts';
import { readUsage } from '../../../src/agents/acp/usage.ts';
import { createToolEndpoint } from '../../../src/tools/endpoint.ts';
import { createCallGuard } from '../../../src/tools/guard/call-guard.ts';
import { until } from '../../engine/scene.ts';
import { makeFolder, makeRun, NO_OPTIONS, playRun } from '../fixture.ts';

const PROGRAM = join(import.meta.dirname, '../fixtures/acp-agent.ts');
const TOOLS = { PULSE_TOOLS_URL: 'http://127.0.0.1:1', PULSE_TOOLS_TOKEN: 'the-token' };

/** The adapter with what the host adds for each run. */
const withTools = (env: typeof TOOLS) => ({
  ...acpAdapter,
  command: (run: Parameters<typeof acpAdapter.command>[0]) => ({ ...acpAdapter.command(run), env }),
});
const adapter = withTools(TOOLS);

interface TurnOptions {
  brief?: string;
  /** The program's modes, the one that it is in first. */
  modes?: string;
  /** A run's door with the guard at it, instead of none. */
  isGuarded?: boolean;
  /** Stops the run once the program has the brief. */
  isStopped?: boolean;
}

async function runTurn(turn: string, { brief, modes = '', isGuarded, isStopped }: TurnOptions = {}) {
  const worktree = makeFolder();
  const log = join(worktree, 'log.jsonl');
  const command = `'${process.execPath}' '${PROGRAM}' ${turn} '${log}' ${modes}`;
  const refused: string[] = [];
  await using endpoint = createToolEndpoint();
  const guard = createCallGuard({
    worktree,
    environment: {},
    onRefusal: ({ reasons }) => void refused.push(...reasons),
  });
  using access = await endpoint.admit([], () => undefined, guard);
  const tools = { PULSE_TOOLS_URL: access.url, PULSE_TOOLS_TOKEN: access.token };
  const stop = new AbortController();
  if (isStopped) void until(() => readLog(log).includes('"prompt"')).then(() => stop.abort());
  const adapterOfRun = isGuarded ? withTools(tools) : adapter;
  const played = await playRun(adapterOfRun, { worktree, command, brief, signal: stop.signal });
  const notes = readLog(log)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { what: string; value: unknown });
  return {
    ...played,
    worktree,
    refused,
    noted: (what: string) => notes.filter((note) => note.what === what),
  };
}

function readLog(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

describe('a conversation', () => {
  test('has the brief, the worktree and the run’s tools', async () => {
    const { end, noted, worktree } = await runTurn('quiet', { brief: 'the "brief"\n' });
    expect(end).toMatchObject({ ok: true, failure: null });
    expect(noted('prompt')).toMatchObject([{ value: [{ type: 'text', text: 'the "brief"\n' }] }]);
    const headers = [{ name: 'Authorization', value: 'Bearer the-token' }];
    expect(noted('session')).toMatchObject([
      {
        value: {
          cwd: worktree,
          mcpServers: [{ type: 'http', name: 'pulse', url: 'http://127.0.0.1:1/mcp', headers }],
        },
      },
    ]);
    const fs = { readTextFile: false, writeTextFile: false };
    expect(noted('initialize')).toMatchObject([{ value: { clientCapabilities: { fs, terminal: false } } }]);
  });

  test('is heard to its last piece', async () => {
    const { end, events } = await runTurn('talks');
    expect(end.finalMessage).toMatch(/^0 1 2 .* 499 \n\n<signal>COMPLETE<\/signal>$/);
    expect(events.filter(({ type }) => type === 'text')).toHaveLength(1);
  });

  test('tells of texts, calls and their ends, and what was spent', async () => {
    const { events } = await runTurn('works');
    expect(events.filter(({ type }) => type !== 'raw')).toEqual([
      { type: 'started' },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_start', id: 'a', name: 'read', summary: 'a.txt' },
      { type: 'tool_end', id: 'a', name: 'read', ok: true },
      { type: 'tool_start', id: 'b', name: 'pulse/pulse_done', summary: 'pulse_done (pulse MCP Server)' },
      { type: 'tool_end', id: 'b', name: 'pulse/pulse_done', ok: false },
      { type: 'tool_start', id: 'c', name: 'execute', summary: 'left open' },
      { type: 'usage', scope: 'cumulative', contextTokens: 10, contextWindow: 100, costUsd: 0.5 },
      { type: 'text', text: 'Done.' },
      { type: 'tool_end', id: 'c', name: 'execute', ok: true },
      { type: 'started', model: 'my-model' },
      { type: 'usage', scope: 'cumulative', inputTokens: 1_000_000, outputTokens: 100_000 },
      { type: 'done', ok: true },
    ]);
  });

  test.each([
    ['default,yolo', []],
    ['plan,default,bypassPermissions', [{ value: 'default' }]],
    ['auto,read-only,full-access', [{ value: 'full-access' }]],
    ['full-access,auto', []],
    ['ask,code', []],
  ])(
    'takes place in the mode that asks Pulse, or of codex in the one that may commit: %s',
    async (modes, set) => {
      expect((await runTurn('quiet', { modes })).noted('mode')).toMatchObject(set);
    },
  );

  test('the guard decides what is asked: a call is allowed once, or refused; each is told of once', async () => {
    const { noted, refused, events, end } = await runTurn('asks', { isGuarded: true });
    expect(noted('answer').map(({ value }) => value)).toEqual([
      { outcome: { outcome: 'selected', optionId: 'once' } },
      { outcome: { outcome: 'selected', optionId: 'no' } },
      { outcome: { outcome: 'selected', optionId: 'no' } },
    ]);
    expect(refused).toEqual([
      expect.stringContaining('/etc/passwd, which is outside the worktree'),
      expect.stringContaining('an agent does not push'),
    ]);
    expect(events.filter(({ type }) => type !== 'raw')).toMatchObject([
      { type: 'started' },
      { type: 'text', text: 'Asking.' },
      { type: 'tool_start', id: 'inside', name: 'edit' },
      { type: 'tool_start', id: 'outside', name: 'edit', summary: '/etc/passwd' },
      { type: 'tool_end', id: 'outside', ok: false },
      { type: 'tool_start', id: 'push', name: 'execute', summary: 'git push --force' },
      { type: 'tool_end', id: 'push', ok: false },
      { type: 'tool_end', id: 'inside', name: 'edit', ok: true },
      { type: 'text', text: 'Done.' },
      { type: 'done', ok: true },
    ]);
    expect(end.ok).toBe(true);
  });

  test('a guard that cannot be reached lets the call pass', async () => {
    const { noted } = await runTurn('asks');
    const once = { outcome: { outcome: 'selected', optionId: 'once' } };
    expect(noted('answer').map(({ value }) => value)).toEqual([once, once, once]);
  });

  test.each([
    ['locked', 'auth', 'Authentication required'],
    ['refuses', 'rate_limit', 'Internal error'],
    ['gives_up', 'crashed', 'max_turn_requests'],
    ['answers_nothing', 'crashed', 'stopReason'],
    ['dies', 'crashed', 'something broke'],
    // Whatever it has started still holds its output.
    ['orphans', 'crashed', 'something broke'],
  ])('that ends badly (%s) is %s', async (turn, failure, message) => {
    const { end, process } = await runTurn(turn);
    expect(end).toMatchObject({ ok: false, failure });
    expect(end.message).toContain(message);
    expect(process.code).toBe(1);
  });

  test('that ends with many words is told between them: half a secret is not known as one', async () => {
    const { end } = await runTurn('babbles');
    expect(end).toMatchObject({ ok: false, failure: 'crashed' });
    expect(end.message).toContain('word word');
    expect(end.message).not.toContain('river');
  });

  test('with a program that is not there says so', async () => {
    const { end } = await playRun(adapter, { worktree: makeFolder(), command: '/nowhere/at/all' });
    expect(end).toMatchObject({ ok: false, failure: 'crashed' });
    expect(end.message).toContain('code 127');
  });

  test.each(['waits', 'deaf'])('is cancelled by SIGTERM, and over soon after (%s)', async (turn) => {
    const { end, events, noted, process } = await runTurn(turn, { isStopped: true });
    expect(end).toMatchObject({ ok: false, failure: 'cancelled' });
    expect(events.at(-1)).toMatchObject({ type: 'done', ok: false });
    expect(noted('cancel')).toHaveLength(1);
    expect(process).toMatchObject({ code: 1, signal: null });
  });
});

test('updates: pieces are a sign of life once a second, and words about the mode are nobody’s', () => {
  let now = 10_000;
  const reader = createUpdateReader(() => now);
  const piece = (text: string) =>
    reader.read({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  expect(piece('[MODE_UPDATE] yolo')).toHaveLength(1);
  expect(piece('one ')).toEqual([]);
  now += 1_000;
  expect(piece('two')).toHaveLength(1);
  expect(reader.end()).toEqual([{ type: 'text', text: 'one two' }]);
  expect(reader.end()).toEqual([]);
});

test('permission: what is refused for good is refused too, and nothing to choose from is no', () => {
  const answer = (isRefused: boolean, kinds: readonly PermissionOptionKind[]) => {
    const options = kinds.map((kind) => ({ optionId: kind, name: kind, kind }));
    return answerPermission({ options }, { isRefused }).outcome;
  };
  expect(answer(false, ['reject_once', 'allow_always'])).toMatchObject({ optionId: 'allow_always' });
  expect(answer(false, ['allow_always', 'allow_once'])).toMatchObject({ optionId: 'allow_once' });
  expect(answer(true, ['allow_once', 'reject_always'])).toMatchObject({ optionId: 'reject_always' });
  expect(answer(true, ['allow_always'])).toEqual({ outcome: 'cancelled' });
  expect(answer(false, ['reject_once'])).toEqual({ outcome: 'cancelled' });
});

test('failures: a status wherever the agent puts it, else the words of the vendor’s server', () => {
  const classOf = (code: number, message = 'no', data?: unknown) =>
    classifyFailure(new RequestError(code, message, data)).class;
  expect(classOf(401)).toBe('auth');
  expect(classOf(-32_603, 'no', { statusCode: 503 })).toBe('overloaded');
  expect(classOf(-32_603, 'The input token count (20) exceeds the maximum')).toBe('context_overflow');
  expect(classOf(-32_603, 'no', { details: 'rate limit 429' })).toBe('crashed');
  expect(classOf(-32_603, 'no', null)).toBe('crashed');
  const limit = new RequestError(-32_603, 'Internal error: You’ve hit your limit · resets 3am (UTC)');
  expect(classifyFailure(limit, Date.UTC(2026, 0, 1, 1))).toMatchObject({
    class: 'usage_limit',
    resetAt: '2026-01-01T03:00:00.000Z',
  });
  expect(classifyFailure('a text')).toEqual({ class: 'crashed', message: 'a text' });
});

test('usage: the protocol’s own field; nothing of an agent that tells of its last call alone', () => {
  const usage = { inputTokens: 10, outputTokens: 2, thoughtTokens: 3, cachedReadTokens: 4 };
  expect(readUsage({ stopReason: 'end_turn', usage }, 'claude')).toEqual([
    { type: 'usage', scope: 'cumulative', inputTokens: 10, outputTokens: 5, cacheTokens: 4 },
  ]);
  expect(readUsage({ stopReason: 'end_turn', usage }, 'OpenCode')).toEqual([]);
  expect(readUsage({ stopReason: 'end_turn' }, 'codex')).toEqual([]);
});

test('what is not told of a cost is worked out from the model’s price', () => {
  const parser = acpAdapter.createParser({ ...NO_OPTIONS, prices: { m: { input: 1, output: 10 } } });
  parser.parse('{"type":"started","model":"m"}');
  const told = '{"type":"usage","scope":"cumulative","inputTokens":1000000,"outputTokens":100000}';
  expect(parser.parse(told)).toMatchObject([{ costUsd: 2 }]);
  expect(parser.parse('{"type":"usage","scope":"cumulative","contextTokens":5}')).toEqual([
    { type: 'usage', scope: 'cumulative', contextTokens: 5 },
  ]);
});

test('a model that was wished for is not asked, and prices nothing', () => {
  const prices = { wished: { input: 1, output: 10 } };
  const parser = acpAdapter.createParser({ ...NO_OPTIONS, model: 'wished', prices });
  const told = '{"type":"usage","scope":"cumulative","inputTokens":1000000,"outputTokens":100000}';
  expect(parser.parse(told)).toEqual([JSON.parse(told)]);
  expect(acpAdapter.modelOf?.('wished', {})).toBeNull();
});

test('needs a command, and is given it as one argument', () => {
  expect(() => acpAdapter.command(makeRun({ command: ' ' }))).toThrow(
    expect.objectContaining({ code: 'usage', hint: expect.stringContaining('gemini --acp') }),
  );
  const { args, stdin } = acpAdapter.command(makeRun({ brief: 'the brief', command: 'gemini --acp' }));
  expect(args.slice(1)).toEqual(['gemini --acp']);
  expect(stdin).toBe('the brief');
});
