import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { geminiAdapter } from '../../../src/agents/gemini/adapter.ts';
import { makeFolder, makeRun, NO_OPTIONS } from '../fixture.ts';
import { all, describeStreams, last, play } from '../stream-cases.ts';
import { describeFuzz } from '../stream-fuzz.ts';

describeStreams(geminiAdapter, [
  ['task', 0, null],
  ['tool-signal', 0, null],
  ['one-429', 0, null],
  ['cut', 0, null],
  ['limit-words', 0, null],
  ['denied', 0, null],
  ['unauthorized', 145, 'auth'],
  ['bad-request', 144, 'crashed'],
  ['overflow', 144, 'context_overflow'],
  ['usage-limit', 173, 'usage_limit'],
  ['rate-limit', 173, 'rate_limit'],
  ['overloaded', 247, 'overloaded'],
  ['refused', 1, 'network'],
  ['still-refused', 0, 'crashed'],
  ['empty', 0, 'crashed'],
  // Told on stderr alone.
  ['unknown-session', 42, 'crashed'],
  ['interrupted', 0, 'crashed'],
]);

describeFuzz(geminiAdapter, {
  says: (content) => JSON.stringify({ type: 'message', role: 'assistant', content, delta: true }),
  calls: (tool_id) => JSON.stringify({ type: 'tool_use', tool_name: 'x', tool_id, parameters: {} }),
  answers: (tool_id, output) => JSON.stringify({ type: 'tool_result', tool_id, status: 'success', output }),
  logs: [
    {
      type: 'gemini',
      id: 'call-1',
      // Of this run, not of one before.
      timestamp: '2199-01-01T00:00:00.000Z',
      model: 'gemini-2.5-flash',
      tokens: { input: 1000, output: 50, cached: 0, total: 1050 },
    },
  ],
});

test('what was spent is told once, at the end: the cache apart, thoughts with the answers', () => {
  const [usage, ...others] = all(play(geminiAdapter, 'task'), 'usage');
  expect(others).toEqual([]);
  expect(usage).toMatchObject({
    scope: 'cumulative',
    inputTokens: 4800,
    outputTokens: 250,
    cacheTokens: 200,
  });
  const parser = geminiAdapter.createParser(NO_OPTIONS);
  const stats = { total_tokens: 190, input_tokens: 100, output_tokens: 40, cached: 30 };
  const [thinking] = parser.parse(JSON.stringify({ type: 'result', status: 'success', stats }));
  expect(thinking).toMatchObject({ inputTokens: 70, outputTokens: 90, cacheTokens: 30 });
});

test('each model of a run has its own price; one without makes the cost unknown', () => {
  const tokens = { total_tokens: 1_100_000, input_tokens: 1_000_000, output_tokens: 100_000, cached: 0 };
  const costOf = (...names: string[]) => {
    const prices = { cheap: { input: 1, output: 10 }, dear: { input: 2, output: 20 } };
    const parser = geminiAdapter.createParser({ ...NO_OPTIONS, prices });
    const stats = { ...tokens, models: Object.fromEntries(names.map((name) => [name, tokens])) };
    const events = parser.parse(JSON.stringify({ type: 'result', status: 'success', stats }));
    return last({ events, end: parser.finish({ code: 0, signal: null }) }, 'usage')?.costUsd;
  };
  expect(costOf('cheap', 'dear')).toBeCloseTo(6, 8);
  expect(costOf('cheap', 'nobody-knows')).toBeUndefined();
});

test('retries are read from the log, with their status', () => {
  expect(all(play(geminiAdapter, 'one-429'), 'retry')).toMatchObject([{ attempt: 1, status: 429 }]);
  expect(all(play(geminiAdapter, 'overloaded'), 'retry')).toMatchObject([{ attempt: 1, status: 503 }]);
  const refused = all(play(geminiAdapter, 'still-refused'), 'retry');
  expect(refused.map(({ attempt, status }) => [attempt, status])).toEqual([
    [1, undefined],
    [2, undefined],
    [3, undefined],
  ]);
  const parser = geminiAdapter.createParser(NO_OPTIONS);
  const waits = 'Attempt 2 failed: Resource exhausted. Retrying after 34000ms...';
  expect(parser.parseStderr?.(waits)).toEqual([{ type: 'retry', attempt: 2, status: 429, delayMs: 34_000 }]);
  expect(parser.parseStderr?.(`it said: ${waits}`)).toEqual([]);
});

test('the first piece after a retry says that it is over; other pieces say nothing', () => {
  expect(all(play(geminiAdapter, 'one-429'), 'raw')).toHaveLength(1);
  expect(all(play(geminiAdapter, 'tool-signal'), 'raw')).toEqual([]);
});

test('a quota that ends at a stated time: the log names the wait', () => {
  const nowMs = () => Date.parse('2026-01-01T00:00:00Z');
  const parser = geminiAdapter.createParser({ ...NO_OPTIONS, nowMs });
  const head = 'Error when talking to Gemini API Full report available at: /x.json';
  parser.parseStderr?.('  retryDelayMs: 5000,'); // of nothing that we know
  parser.parseStderr?.(`${head} TerminalQuotaError: No more.`);
  parser.parseStderr?.('  retryDelayMs: 3600000,');
  const error = { type: 'unknown', message: '[API Error: No more.]' };
  const resetAt = '2026-01-01T01:00:00.000Z';
  expect(parser.parse(JSON.stringify({ type: 'result', status: 'error', error }))).toEqual([
    { type: 'limit', message: error.message, resetAt },
    { type: 'done', ok: false, failure: 'usage_limit', message: error.message },
  ]);
  expect(parser.finish({ code: 173, signal: null })).toMatchObject({ failure: 'usage_limit', resetAt });
});

test('a tool that a policy forbids is denied, one that fails is not', () => {
  expect(all(play(geminiAdapter, 'denied'), 'denied')).toEqual([
    { type: 'denied', tool: 'run_shell_command' },
  ]);
  expect(all(play(geminiAdapter, 'limit-words'), 'denied')).toEqual([]);
});

test('without a login it says nothing but its exit code', () => {
  const parser = geminiAdapter.createParser(NO_OPTIONS);
  expect(parser.finish({ code: 41, signal: null })).toMatchObject({ ok: false, failure: 'auth' });
});

test('exit codes are statuses, of those who refuse', () => {
  const failureOf = (code: number) => {
    const parser = geminiAdapter.createParser(NO_OPTIONS);
    parser.parse(JSON.stringify({ type: 'result', status: 'error', error: { message: 'No.' } }));
    return parser.finish({ code, signal: null }).failure;
  };
  expect([145, 147, 173, 244, 247, 1].map(failureOf)).toEqual([
    ...['auth', 'auth', 'rate_limit', 'overloaded', 'overloaded'],
    'crashed',
  ]);
});

test('starts the program itself, with the brief on stdin and nothing secret in its arguments', () => {
  const run = makeRun({ brief: 'the brief', executable: '/opt/gemini', directory: '/run/of/this' });
  const { file, args, stdin, env, files = {} } = geminiAdapter.command(run);
  expect(file).toBe('/bin/sh');
  expect(args[1]).toMatch(/\nexec "\$@"$/);
  expect(args.slice(3)).toEqual(['/run/of/this', '/opt/gemini', '--output-format', 'stream-json', '--yolo']);
  expect(stdin).toBe('the brief');
  expect([...args, ...Object.values(env)].join(' ')).not.toContain(run.tools.token);
  expect(env).toEqual({ GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' });
  expect(JSON.parse(files['gemini-extension.json']!).mcpServers).toEqual({
    pulse: { httpUrl: `${run.tools.url}/mcp`, headers: { Authorization: `Bearer ${run.tools.token}` } },
  });
  const { args: more } = geminiAdapter.command({ ...run, model: 'm', resume: 'session-1' });
  expect(more.slice(-4)).toEqual(['--model', 'm', '--resume', 'session-1']);
});

test('sees the user’s settings through links, and one extension more', () => {
  const home = makeFolder({
    '.gemini/settings.json': '{"theirs":true}',
    '.gemini/.env': 'KEY=1',
    '.gemini/extensions/other/gemini-extension.json': '{}',
    '.env': 'KEY=2',
  });
  const directory = makeFolder({ 'gemini-extension.json': '{"ours":true}' });
  const { args } = geminiAdapter.command(makeRun({ directory, executable: '/usr/bin/env' }));
  const script = args.slice(0, 5);
  const shown = (env: Record<string, string>) =>
    execFileSync('/bin/sh', script, { env: { PATH: process.env.PATH ?? '', ...env } }).toString();
  expect(shown({ HOME: home })).toContain(`GEMINI_CLI_HOME=${directory}\n`);
  const there = join(directory, '.gemini');
  expect(readFileSync(join(there, 'settings.json'), 'utf8')).toBe('{"theirs":true}');
  expect(realpathSync(join(there, '.env'))).toBe(join(home, '.gemini/.env'));
  expect(realpathSync(join(directory, '.env'))).toBe(join(home, '.env'));
  expect(readdirSync(join(there, 'extensions')).sort()).toEqual(['other', 'pulse-tools']);
  expect(readFileSync(join(there, 'extensions/pulse-tools/gemini-extension.json'), 'utf8')).toBe(
    '{"ours":true}',
  );
  // Its sessions are the user's.
  writeFileSync(join(there, 'tmp/session'), 'x');
  expect(readFileSync(join(home, '.gemini/tmp/session'), 'utf8')).toBe('x');
  expect(readdirSync(join(home, '.gemini/extensions'))).toEqual(['other']);
});

test('a home that the user has chosen for it is the one that is shown', () => {
  const home = makeFolder({});
  const chosen = makeFolder({ '.gemini/settings.json': '{"chosen":true}' });
  mkdirSync(join(home, '.gemini'));
  symlinkSync('/nowhere/at/all', join(chosen, '.gemini/dangling'));
  const directory = makeFolder({ 'gemini-extension.json': '{}' });
  const { args } = geminiAdapter.command(makeRun({ directory, executable: '/bin/true' }));
  const env = { PATH: process.env.PATH ?? '', HOME: home, GEMINI_CLI_HOME: chosen };
  execFileSync('/bin/sh', args, { env });
  expect(readFileSync(join(directory, '.gemini/settings.json'), 'utf8')).toBe('{"chosen":true}');
});
