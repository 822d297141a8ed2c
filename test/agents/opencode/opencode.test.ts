import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AgentParser } from '../../../src/agents/contract.ts';
import { opencodeAdapter } from '../../../src/agents/opencode/adapter.ts';
import { createToolEndpoint } from '../../../src/tools/endpoint.ts';
import { createCallGuard } from '../../../src/tools/guard/call-guard.ts';
import { makeFolder, makeRun, NO_OPTIONS } from '../fixture.ts';
import { all, describeStreams, last, play } from '../stream-cases.ts';
import { describeFuzz } from '../stream-fuzz.ts';

describeStreams(opencodeAdapter, [
  ['task', 0, null],
  ['tool-signal', 0, null],
  ['one-429', 0, null],
  ['cut', 0, null],
  ['limit-words', 0, null],
  ['denied', 0, null],
  ['unauthorized', 1, 'auth'],
  ['bad-request', 1, 'crashed'],
  ['overflow', 0, 'context_overflow'],
  ['rate-limit', 1, 'rate_limit'],
  ['overloaded', 'SIGINT', 'crashed'],
  ['refused', 'SIGINT', 'crashed'],
  ['interrupted', 'SIGINT', 'crashed'],
  // Told on stderr alone.
  ['unknown-session', 1, 'crashed'],
]);

describeFuzz(opencodeAdapter, {
  says: (text) => JSON.stringify({ type: 'text', sessionID: 'ses_1', part: { text } }),
});

const step = (part: object) => JSON.stringify({ type: 'step_finish', sessionID: 'ses_1', part });
const log = (message: string, fields = '') =>
  `timestamp=2026-01-01T00:00:00.000Z level=INFO run=1 message=${message} ${fields}`;

test('each step tells what it spent, and its cost', () => {
  const usage = all(play(opencodeAdapter, 'task'), 'usage');
  expect(usage).toHaveLength(5);
  expect(usage[0]).toEqual({
    type: 'usage',
    scope: 'call',
    inputTokens: 800,
    outputTokens: 50,
    cacheTokens: 200,
    contextTokens: 1050,
    costUsd: 0.0013,
  });
});

test('a cost of nothing is no price known: the list’s is taken, or none', () => {
  const costOf = (model: string | null) => {
    const prices = { 'my-model': { input: 1, output: 10 } };
    const parser = opencodeAdapter.createParser({ ...NO_OPTIONS, model, prices });
    const tokens = { input: 1_000_000, output: 40_000, reasoning: 60_000, cache: { read: 0, write: 0 } };
    const events = parser.parse(step({ reason: 'stop', tokens, cost: 0 }));
    return last({ events, end: parser.finish({ code: 0, signal: null }) }, 'usage')?.costUsd;
  };
  expect(costOf('provider/my-model')).toBeCloseTo(2, 8);
  expect(costOf('provider/another')).toBeUndefined();
  expect(costOf(null)).toBeUndefined();
});

test('a model that is known has a window, so that it is seen how full it is', () => {
  const usageOf = (model: string | null) => {
    const parser = opencodeAdapter.createParser({ ...NO_OPTIONS, model });
    const tokens = { input: 150_000, output: 100, reasoning: 0, cache: { read: 0, write: 0 } };
    const events = parser.parse(step({ reason: 'stop', tokens, cost: 1 }));
    return last({ events, end: parser.finish({ code: 0, signal: null }) }, 'usage');
  };
  for (const model of ['anthropic/claude-sonnet-4-5', 'openrouter/anthropic/claude-sonnet-4.5'])
    expect(usageOf(model)).toMatchObject({ contextTokens: 150_100, contextWindow: 200_000 });
  for (const model of ['ollama/my-model', null]) expect(usageOf(model)?.contextWindow).toBeUndefined();
});

test('the model’s name comes from the log', () => {
  expect(last(play(opencodeAdapter, 'task'), 'started')?.model).toBe('fake-model');
});

test('retries are read from the log; those for a title are none', () => {
  expect(all(play(opencodeAdapter, 'one-429'), 'retry')).toEqual([{ type: 'retry', attempt: 1 }]);
  expect(all(play(opencodeAdapter, 'overloaded'), 'retry').length).toBeGreaterThan(1);
  const refused = all(play(opencodeAdapter, 'refused'), 'retry').map(({ attempt }) => attempt);
  expect(refused).toEqual(refused.map((_, index) => index + 1));
  const parser = opencodeAdapter.createParser(NO_OPTIONS);
  expect(parser.parseStderr?.(log('"stream error"', 'small=true agent=title'))).toEqual([]);
  expect(parser.parseStderr?.(`echo ${log('"stream error"')}`)).toEqual([]);
});

test('tells with the step that begins that the retries are over: once, until a step is whole', () => {
  const parser = opencodeAdapter.createParser(NO_OPTIONS);
  const retry = () => parser.parseStderr?.(log('"stream error"')) ?? [];
  const line = (type: string, part: object = {}) =>
    parser.parse(JSON.stringify({ type, sessionID: 'ses_1', timestamp: 1, part }));
  line('step_start');
  // Nothing was tried again.
  expect(line('step_start')).toEqual([]);
  retry();
  expect(line('step_start')).toMatchObject([{ type: 'raw' }]);
  retry();
  // It broke off: still the same call.
  expect(line('step_start')).toEqual([]);
  line('step_finish', { reason: 'tool-calls' });
  retry();
  expect(line('step_start')).toMatchObject([{ type: 'raw' }]);
});

test('it is done when its own loop ends: not at a step’s end, nor with a subagent’s loop', () => {
  const parser = opencodeAdapter.createParser(NO_OPTIONS);
  const seen = [
    ...parser.parse(step({ reason: 'stop' })),
    ...(parser.parseStderr?.(log('"exiting loop"', 'session.id=ses_2')) ?? []),
  ];
  expect(seen.map(({ type }) => type)).toEqual(['started']);
  expect(parser.parseStderr?.(log('"exiting loop"', 'session.id=ses_1'))).toEqual([
    { type: 'done', ok: true },
  ]);
  expect(parser.parseStderr?.(log('"exiting loop"', 'session.id=ses_1'))).toEqual([]);
});

describe('a step', () => {
  const startedAt = (timestamp: string) =>
    JSON.stringify({ type: 'step_start', sessionID: 'ses_1', timestamp: Date.parse(timestamp) });
  const start = startedAt('2025-12-31T23:59:59.000Z');
  const error = JSON.stringify({ type: 'error', sessionID: 'ses_1', error: { name: 'UnknownError' } });

  test.each<[string, (parser: AgentParser) => void, boolean]>([
    ['that has begun', () => undefined, true],
    ['that has ended', (parser) => parser.parse(step({ reason: 'tool-calls' })), false],
    ['that broke', (parser) => parser.parse(error), false],
    ['that is asked for again', (parser) => parser.parseStderr?.(log('stream', 'session.id=ses_1')), false],
    [
      'whose answer broke off',
      (parser) => parser.parseStderr?.(log('"stream error"', 'session.id=ses_1')),
      false,
    ],
    ['in which a subagent asks', (parser) => parser.parseStderr?.(log('stream', 'session.id=ses_2')), true],
  ])('%s: its calls are told when they end, and till then it may be silent', (_, then, isAtWork) => {
    const parser = opencodeAdapter.createParser(NO_OPTIONS);
    expect(parser.isAtWork?.()).toBe(false);
    parser.parse(start);
    then(parser);
    expect(parser.isAtWork?.()).toBe(isAtWork);
  });

  test('that has begun goes on when the log of what was before it comes late', () => {
    const parser = opencodeAdapter.createParser(NO_OPTIONS);
    parser.parse(startedAt('2026-01-01T00:00:00.030Z'));
    parser.parseStderr?.(log('stream', 'session.id=ses_1'));
    expect(parser.isAtWork?.()).toBe(true);
  });
});

test('a step that began after a good one and did not end is no success', () => {
  const parser = opencodeAdapter.createParser(NO_OPTIONS);
  parser.parse(step({ reason: 'stop' }));
  parser.parse(JSON.stringify({ type: 'step_start', sessionID: 'ses_1' }));
  expect(parser.finish({ code: 0, signal: null })).toMatchObject({ ok: false, failure: 'crashed' });
});

test('a step that was cut at its longest is no success either, and says so', () => {
  const parser = opencodeAdapter.createParser(NO_OPTIONS);
  parser.parse(step({ reason: 'length' }));
  const { ok, message } = parser.finish({ code: 0, signal: null });
  expect({ ok, message }).toEqual({ ok: false, message: 'The agent stopped in the middle: "length".' });
});

test('a context that is too long ends the run at once: it would compact and meet it again for ever', () => {
  const played = play(opencodeAdapter, 'overflow');
  expect(played.events.find(({ type }) => type === 'done')).toMatchObject({
    ok: false,
    failure: 'context_overflow',
    isEndless: true,
  });
  expect(all(played, 'compacted').length).toBeGreaterThan(0);
});

test('what it tells itself is not what the agent says', () => {
  const said = all(play(opencodeAdapter, 'overflow'), 'text').map(({ text }) => text);
  expect(said.join('\n')).not.toContain('The previous request exceeded');
  const parser = opencodeAdapter.createParser(NO_OPTIONS);
  const part = { text: '<signal>COMPLETE</signal>', synthetic: true };
  parser.parse(JSON.stringify({ type: 'text', sessionID: 'ses_1', part }));
  expect(parser.finish({ code: 0, signal: null }).finalMessage).toBe('');
});

test('a call that a rule forbids is denied, one that fails is not', () => {
  expect(all(play(opencodeAdapter, 'denied'), 'denied')).toEqual([{ type: 'denied', tool: 'bash' }]);
  expect(all(play(opencodeAdapter, 'limit-words'), 'denied')).toEqual([]);
});

test('starts with its tools in a variable that names another, so that no argument holds the token, and with its guard', () => {
  const run = makeRun({ brief: 'the brief', executable: '/opt/opencode', directory: '/run/of/this' });
  const { file, args, stdin, env, files } = opencodeAdapter.command(run);
  expect(file).toBe('/opt/opencode');
  expect(args).toEqual(['run', '--format', 'json', '--print-logs', '--log-level', 'INFO', '--auto']);
  expect(stdin).toBe('the brief');
  expect(Object.keys(files ?? {})).toEqual(['pulse-guard.js']);
  expect(files?.['pulse-guard.js']).toContain(`${run.tools.url}/guard/opencode`);
  expect([...args, ...Object.values(env)].join(' ')).not.toContain(run.tools.token);
  expect(env).toEqual({
    OPENCODE_CONFIG_CONTENT: expect.any(String),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    npm_config_fetch_retries: '0',
    npm_config_fetch_timeout: '10000',
  });
  expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT!)).toEqual({
    plugin: ['file:///run/of/this/pulse-guard.js'],
    mcp: {
      pulse: {
        type: 'remote',
        url: `${run.tools.url}/mcp`,
        headers: { Authorization: 'Bearer {env:PULSE_TOOLS_TOKEN}' },
        oauth: false,
        enabled: true,
      },
    },
  });
  const { args: more } = opencodeAdapter.command({ ...run, model: 'p/m', resume: 'ses_9' });
  expect(more.slice(-4)).toEqual(['--model', 'p/m', '--session', 'ses_9']);
});

describe('its plugin', () => {
  async function loadPlugin(url: string, token: string) {
    const tools = { url, token, names: [] };
    const { files = {} } = opencodeAdapter.command(makeRun({ tools }));
    const folder = makeFolder({ 'guard.mjs': files['pulse-guard.js']! });
    const { PulseGuard } = await import(join(folder, 'guard.mjs'));
    const hooks = await PulseGuard();
    return (tool: string, args: object): Promise<void> =>
      hooks['tool.execute.before']({ tool, callID: 'call_1' }, { args });
  }

  test('throws what the guard has against a call, and nothing else', async () => {
    const worktree = makeFolder();
    const refused: unknown[] = [];
    await using endpoint = createToolEndpoint();
    const guard = createCallGuard({
      worktree,
      environment: {},
      onRefusal: (call) => void refused.push(call),
    });
    using access = await endpoint.admit([], () => undefined, guard);
    const call = await loadPlugin(access.url, access.token);
    await expect(call('bash', { command: 'git push --force' })).rejects.toThrow('does not push');
    await expect(call('write', { filePath: '/usr/share/x' })).rejects.toThrow('outside the worktree');
    await call('write', { filePath: join(worktree, 'x') });
    expect(refused).toMatchObject([{ id: 'call_1', tool: 'bash' }, { tool: 'write' }]);
  });

  test('lets a call pass where there is no guard, and gives npm its patience back before any runs', async () => {
    vi.stubEnv('npm_config_fetch_retries', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const call = await loadPlugin('http://127.0.0.1:1', 'none');
    await call('bash', { command: 'git push' });
    expect(process.env.npm_config_fetch_retries).toBeUndefined();
  });
});
