import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { copilotAdapter } from '../../../src/agents/copilot/adapter.ts';
import { makeFolder, makeRun, NO_OPTIONS } from '../fixture.ts';
import { all, describeStreams, last, play } from '../stream-cases.ts';
import { describeFuzz } from '../stream-fuzz.ts';

describeStreams(copilotAdapter, [
  ['task', 0, null],
  ['tool-signal', 0, null],
  ['one-429', 0, null],
  ['cut', 0, null],
  ['limit-words', 0, null],
  ['denied', 0, null],
  ['unauthorized', 1, 'auth'],
  ['bad-request', 1, 'crashed'],
  ['overflow', 1, 'context_overflow'],
  ['usage-limit', 1, 'usage_limit'],
  ['rate-limit', 1, 'rate_limit'],
  ['overloaded', 1, 'overloaded'],
  ['refused', 1, 'network'],
  ['interrupted', 0, 'crashed'],
]);

const line = (type: string, data: object, more: object = {}) => JSON.stringify({ type, data, ...more });

describeFuzz(copilotAdapter, {
  says: (content) => line('assistant.message', { content }),
  calls: (toolCallId) => line('tool.execution_start', { toolCallId, toolName: 'x', arguments: {} }),
  answers: (toolCallId, content) =>
    line('tool.execution_complete', { toolCallId, success: true, result: { content } }),
  logs: [
    {
      type: 'span',
      name: 'chat gpt-4.1',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-4.1',
        'gen_ai.usage.input_tokens': 1000,
        'gen_ai.usage.output_tokens': 50,
        'gen_ai.usage.cache_read.input_tokens': 200,
        'gen_ai.response.model': 'gpt-4.1',
      },
    },
  ],
});

test('what was spent is the last line, the cache apart', () => {
  const played = play(copilotAdapter, 'task');
  expect(played.events.at(-1)).toEqual({
    type: 'usage',
    scope: 'cumulative',
    inputTokens: 4800,
    outputTokens: 250,
    cacheTokens: 200,
  });
});

test('each model of a run has its own price; one without makes the cost unknown', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 100_000, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const costOf = (...names: string[]) => {
    const prices = { cheap: { input: 1, output: 10 }, dear: { input: 2, output: 20 } };
    const parser = copilotAdapter.createParser({ ...NO_OPTIONS, prices });
    const modelMetrics = Object.fromEntries(names.map((name) => [name, { usage }]));
    const events = parser.parse(JSON.stringify({ modelMetrics }));
    return last({ events, end: parser.finish({ code: 0, signal: null }) }, 'usage')?.costUsd;
  };
  expect(costOf('cheap', 'dear')).toBeCloseTo(6, 8);
  expect(costOf('cheap', 'nobody-knows')).toBeUndefined();
});

test('subtracts what the session had spent before it was resumed', () => {
  const earlier = { costUsd: 2, inputTokens: 800, outputTokens: 50, cacheTokens: 100 };
  const options = { earlier, prices: { 'gpt-4.1': { input: 1000, output: 1000, cache: 1000 } } };
  const usage = last(play(copilotAdapter, 'task', { options }), 'usage');
  expect(usage).toMatchObject({ inputTokens: 4000, outputTokens: 200, cacheTokens: 100 });
  expect(usage?.costUsd).toBeCloseTo(5.25 - 2, 8);
});

test('tells of retries with their status, and when they are over', () => {
  expect(all(play(copilotAdapter, 'one-429'), 'retry')).toEqual([{ type: 'retry', attempt: 1, status: 429 }]);
  expect(all(play(copilotAdapter, 'one-429'), 'raw')).toHaveLength(1);
  const refused = all(play(copilotAdapter, 'refused'), 'retry');
  expect(refused.map(({ attempt, status }) => [attempt, status])).toEqual(
    [1, 2, 3, 4, 5].map((attempt) => [attempt, undefined]),
  );
});

test('interrupted, it says that all went well and exits with 0: it did not', () => {
  const { end } = play(copilotAdapter, 'interrupted', { exit: 0 });
  expect(end).toMatchObject({ ok: false, failure: 'crashed', message: 'The agent was interrupted.' });
});

test('names the tools of servers by server, and those that were denied', () => {
  expect(all(play(copilotAdapter, 'tool-signal'), 'tool_start').map(({ name }) => name)).toEqual([
    'pulse/pulse_signal',
  ]);
  expect(all(play(copilotAdapter, 'denied'), 'denied')).toEqual([{ type: 'denied', tool: 'bash' }]);
  expect(all(play(copilotAdapter, 'limit-words'), 'denied')).toEqual([]);
});

test('what a subagent says is not what the agent says, nor its refusals the agent’s', () => {
  const parser = copilotAdapter.createParser(NO_OPTIONS);
  const complete = { content: '<signal>COMPLETE</signal>' };
  expect(parser.parse(line('assistant.message', complete, { agentId: 'sub' }))).toEqual([]);
  expect(parser.parse(line('assistant.message', { ...complete, parentToolCallId: 'call' }))).toEqual([]);
  parser.parse(line('model.call_failure', { statusCode: 401 }, { agentId: 'sub' }));
  parser.parse(line('session.error', { message: 'No.' }));
  const end = parser.finish({ code: 1, signal: null });
  expect(end).toMatchObject({ failure: 'crashed', finalMessage: '' });
});

test('a refusal that a later answer made up for is none', () => {
  const parser = copilotAdapter.createParser(NO_OPTIONS);
  parser.parse(line('model.call_failure', { statusCode: 401 }));
  parser.parse(line('assistant.message', { content: 'Here I am.' }));
  parser.parse(line('session.error', { message: 'Something else.' }));
  expect(parser.finish({ code: 1, signal: null }).failure).toBe('crashed');
});

test('starts with its tools in a file of the run, and with what it spends in another', () => {
  const run = makeRun({ brief: 'the brief', executable: '/opt/copilot', directory: '/run/of/this' });
  const { file, args, stdin, env, files = {} } = copilotAdapter.command(run);
  expect(file).toBe('/bin/sh');
  const session = args[4]!;
  expect(session).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(args.slice(3)).toEqual([
    ...['/run/of/this/usage.json', session],
    ...['/opt/copilot', '--output-format', 'json', '--allow-all', '--no-ask-user'],
    ...['--additional-mcp-config', '@/run/of/this/mcp.json', '--plugin-dir', '/run/of/this'],
    `--session-id=${session}`,
  ]);
  expect(stdin).toBe('the brief');
  expect(env).toEqual({
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_OTEL_FILE_EXPORTER_PATH: '/run/of/this/spans.jsonl',
  });
  expect([...args, ...Object.values(env)].join(' ')).not.toContain(run.tools.token);
  expect(JSON.parse(files['mcp.json']!).mcpServers.pulse).toMatchObject({
    url: `${run.tools.url}/mcp`,
    headers: { Authorization: `Bearer ${run.tools.token}` },
  });
  const { args: more } = copilotAdapter.command({ ...run, model: 'm', resume: 'session-1' });
  expect(more.slice(-5)).toEqual([...['--model', 'm', '--plugin-dir', '/run/of/this', '--resume=session-1']]);
  expect(more[4]).toBe('session-1');
});

test('has its guard in a plugin of the run, and another session in another run', () => {
  const run = makeRun({ directory: '/run/of/this' });
  const { args, files = {} } = copilotAdapter.command(run);
  expect(JSON.parse(files['plugin.json']!)).toMatchObject({ name: 'pulse-guard', hooks: 'hooks.json' });
  const { preToolUse } = JSON.parse(files['hooks.json']!).hooks;
  expect(preToolUse).toMatchObject([{ type: 'command', bash: "bash '/run/of/this/guard.sh'" }]);
  const isAsked = (tool: string) => new RegExp(`^(?:${preToolUse[0].matcher})$`).test(tool);
  expect(['bash', 'create', 'edit', 'apply_patch', 'view', 'read_bash'].filter(isAsked)).toEqual([
    ...['bash', 'create', 'edit', 'apply_patch'],
  ]);
  expect(files['guard.sh']).toContain('/guard/copilot');
  expect(copilotAdapter.command({ ...run, directory: '/run/of/that' }).args[4]).not.toBe(args[4]);
});

describe('its spans', () => {
  const span = (usage: object, name = 'chat') =>
    JSON.stringify({
      type: 'span',
      attributes: { 'gen_ai.operation.name': name, 'gen_ai.response.model': 'm', ...usage },
    });
  const tokens = {
    'gen_ai.usage.input_tokens': 1_000_000,
    'gen_ai.usage.output_tokens': 100_000,
    'gen_ai.usage.cache_read.input_tokens': 400_000,
  };
  const prices = { m: { input: 1, output: 10, cache: 0.5 } };

  test('tell what each call cost, the cache apart', () => {
    const parser = copilotAdapter.createParser({ ...NO_OPTIONS, prices });
    const spent = { inputTokens: 600_000, outputTokens: 100_000, cacheTokens: 400_000 };
    const usage = { type: 'usage', scope: 'call', ...spent, costUsd: expect.closeTo(1.8, 8) };
    expect(parser.parseLog?.(span(tokens))).toEqual([usage]);
    expect(parser.parseLog?.(span(tokens))).toEqual([usage]);
  });

  test('that are of no call, or of one that failed, tell nothing; nor does what is none', () => {
    const parser = copilotAdapter.createParser({ ...NO_OPTIONS, prices });
    for (const line of [span(tokens, 'invoke_agent'), span({}), '{"type":"metric"}', 'no json', '']) {
      expect(parser.parseLog?.(line)).toEqual([]);
    }
  });

  test('are not counted again once the sum of all is told', () => {
    const parser = copilotAdapter.createParser({ ...NO_OPTIONS, prices });
    parser.parse('{"modelMetrics":{"m":{"usage":{"inputTokens":5}}}}');
    expect(parser.parseLog?.(span(tokens))).toEqual([]);
  });

  test('are looked for where the run has told it to write them, once they are there', () => {
    const folder = makeFolder({ 'spans.jsonl': '' });
    const at = (name: string) =>
      copilotAdapter.logFile?.('any', { COPILOT_OTEL_FILE_EXPORTER_PATH: join(folder, name) });
    expect(at('spans.jsonl')).toBe(join(folder, 'spans.jsonl'));
    expect(at('none.jsonl')).toBeNull();
    expect(copilotAdapter.logFile?.('any', {})).toBeNull();
  });
});

test('its session has the name that Pulse gave it, once the model is asked', () => {
  const parser = copilotAdapter.createParser(NO_OPTIONS);
  expect(parser.parse('{"type":"pulse.session","sessionId":"s-1"}')).toEqual([]);
  expect(parser.parse(line('model.call_start', { model: 'm' }))).toEqual([
    { type: 'started', model: 'm', sessionId: 's-1' },
  ]);
});

/** A program in copilot's place: prints its stdin, writes the usage where it is told to, and does as `body` says. */
function startInstead(body: string) {
  const directory = makeFolder();
  const executable = join(directory, 'instead');
  writeFileSync(
    executable,
    `#!/bin/sh\ncat\nfor file; do :; done\nprintf '{\\n "a": 1\\n}' > "$file"\n${body}\n`,
  );
  chmodSync(executable, 0o755);
  const { file, args, stdin } = copilotAdapter.command(
    makeRun({ brief: 'the brief\n', executable, directory }),
  );
  const { status, stdout } = spawnSync(file, args, { input: stdin, encoding: 'utf8' });
  const [first = '', ...rest] = stdout.split('\n');
  expect(JSON.parse(first)).toEqual({ type: 'pulse.session', sessionId: args[4] });
  return { status, stdout: rest.join('\n') };
}

test('the program gets the brief, its exit code is kept, and its usage is one line', () => {
  expect(startInstead('exit 7')).toMatchObject({ status: 7, stdout: 'the brief\n{ "a": 1}\n' });
  expect(startInstead('rm "$file"; exit 0')).toMatchObject({ status: 0, stdout: 'the brief\n' });
});

test('a signal reaches the program, and what it does last is waited for', () => {
  const told = startInstead(
    'trap "sleep 0.2; echo stopping; exit 3" TERM; kill -TERM $PPID; while :; do sleep 0.05; done',
  );
  expect(told).toMatchObject({ status: 3, stdout: 'the brief\nstopping\n{ "a": 1}\n' });
});

test('the program itself is started, not the script that npm puts before it', () => {
  const scope = 'lib/node_modules/@github';
  const native = `${scope}/copilot-${process.platform}-${process.arch}/copilot`;
  const folder = makeFolder({ [`${scope}/copilot/npm-loader.js`]: '', [native]: '', 'bin/.keep': '' });
  const script = join(folder, scope, 'copilot/npm-loader.js');
  chmodSync(script, 0o755);
  symlinkSync(script, join(folder, 'bin/copilot'));
  expect(copilotAdapter.locate?.({ PATH: join(folder, 'bin') })).toBe(join(folder, native));
  rmSync(join(folder, native));
  expect(copilotAdapter.locate?.({ PATH: join(folder, 'bin') })).toBe(join(folder, 'bin/copilot'));
});
