import { join } from 'node:path';
/** How the agents of others are started: what they are given, and what nobody else gets to see. */
import { expect, test } from 'vitest';
import { claudeAdapter } from '../../src/agents/claude/adapter.ts';
import { codexAdapter } from '../../src/agents/codex/adapter.ts';
import { copilotAdapter } from '../../src/agents/copilot/adapter.ts';
import { geminiAdapter } from '../../src/agents/gemini/adapter.ts';
import { opencodeAdapter } from '../../src/agents/opencode/adapter.ts';
import { piAdapter } from '../../src/agents/pi/adapter.ts';
import { qwenAdapter } from '../../src/agents/qwen/adapter.ts';
import { agentEnvironment } from '../../src/process/environment.ts';
import { makeRun } from './fixture.ts';

const ADAPTERS = [claudeAdapter, codexAdapter, qwenAdapter];

test.each(ADAPTERS)('$name gets the brief on stdin; arguments hold neither it nor the token', (adapter) => {
  const run = makeRun({ brief: 'the brief', executable: '/opt/it' });
  const { file, args, stdin, env } = adapter.command(run);
  expect(file).toBe('/opt/it');
  expect(stdin).toBe('the brief');
  expect(args.join(' ')).not.toContain('the brief');
  expect([...args, ...Object.values(env)].join(' ')).not.toContain(run.tools.token);
  expect(adapter.command(run)).toEqual(adapter.command(run));
});

test.each(ADAPTERS)('$name takes a model and a session to go on with, or neither', (adapter) => {
  const plain = adapter.command(makeRun()).args;
  expect(plain).not.toContain('--model');
  expect(plain.join(' ')).not.toContain('resume');
  const { args } = adapter.command(makeRun({ model: 'some-model', resume: 'session-1' }));
  expect(args[args.indexOf('--model') + 1]).toBe('some-model');
  expect(args.join(' ')).toMatch(/resume session-1/);
});

test.each(ADAPTERS)('$name is asked to stop by SIGINT first', (adapter) => {
  expect(adapter.command(makeRun()).stopSignals).toEqual(['SIGINT', 'SIGTERM']);
});

test.each([claudeAdapter, qwenAdapter])('$name finds its tools in a file of the run', (adapter) => {
  const run = makeRun({ directory: '/run/of/this' });
  const { args, files = {} } = adapter.command(run);
  expect(args[args.indexOf('--mcp-config') + 1]).toBe('/run/of/this/mcp.json');
  const { pulse } = JSON.parse(files['mcp.json']!).mcpServers;
  expect(pulse.url ?? pulse.httpUrl).toBe(`${run.tools.url}/mcp`);
  expect(pulse.headers).toEqual({ Authorization: `Bearer ${run.tools.token}` });
});

test('claude has Pulse’s tools alone, and the servers of its user where these are wanted', () => {
  expect(claudeAdapter.command(makeRun()).args).toContain('--strict-mcp-config');
  const { args } = claudeAdapter.command(makeRun({ ownMcp: true }));
  expect(args).not.toContain('--strict-mcp-config');
  expect(args).toContain('--mcp-config');
});

test('claude is told to be patient for a short time only, to call nobody but its model, and to use Pulse’s tools', () => {
  const run = makeRun({ directory: '/run/of/this' });
  const { args, env, files = {} } = claudeAdapter.command(run);
  expect(args).toEqual([
    ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
    ...['--dangerously-skip-permissions', '--mcp-config', '/run/of/this/mcp.json', '--strict-mcp-config'],
    ...['--settings', '/run/of/this/settings.json'],
  ]);
  const { IS_SANDBOX: _, ...settings } = env;
  expect(settings).toEqual({
    CLAUDE_CODE_MAX_RETRIES: '3',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  });
  expect(JSON.parse(files['mcp.json']!).mcpServers.pulse).toMatchObject({ type: 'http', alwaysLoad: true });
  const hook = { type: 'http', url: `${run.tools.url}/guard/claude`, timeout: 10 };
  expect(JSON.parse(files['settings.json']!)).toMatchObject({
    hooks: { PreToolUse: [{ hooks: [hook] }], PostToolUse: [{ matcher: '*', hooks: [hook] }] },
    permissions: { deny: expect.arrayContaining(['ScheduleWakeup', 'EnterWorktree']) },
  });
});

test('qwen is told to ask nobody, where its tools and its guard are, and not to try again for ten minutes', () => {
  const { args, env, files = {} } = qwenAdapter.command(makeRun({ directory: '/run/of/this' }));
  expect(args).toEqual([
    ...['--output-format', 'stream-json', '--yolo', '--mcp-config', '/run/of/this/mcp.json'],
  ]);
  expect(env).toEqual({ QWEN_CODE_SYSTEM_DEFAULTS_PATH: '/run/of/this/defaults.json' });
  expect(JSON.parse(files['defaults.json']!)).toMatchObject({
    hooks: { PreToolUse: [{ hooks: [{ command: "bash '/run/of/this/guard.sh'" }] }] },
    model: { generationConfig: { maxRetries: 0 } },
  });
});

test('codex is told to ask nobody, to load no plugins and to look for no update', () => {
  const { args, env } = codexAdapter.command(makeRun({ directory: '/run/of/this' }));
  const isSetting = (_: string, at: number) => args[at] === '-c' || args[at - 1] === '-c';
  expect(args.filter((arg, at) => !isSetting(arg, at))).toEqual([
    ...['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-'],
  ]);
  const settings = args.filter((_, at) => args[at - 1] === '-c');
  expect(settings.filter((setting) => !setting.startsWith('hooks.'))).toEqual([
    ...['features.plugins=false', 'check_for_update_on_startup=false'],
    'mcp_servers.pulse.url="http://127.0.0.1:1/mcp"',
    'mcp_servers.pulse.bearer_token_env_var="PULSE_TOOLS_TOKEN"',
  ]);
  expect(env).toEqual({ PULSE_GUARD: '/run/of/this/guard.sh' });
});

test('codex finds its tools by flags that name a variable of the run', () => {
  const { args, files, env } = codexAdapter.command(makeRun());
  expect(args).toContain('mcp_servers.pulse.url="http://127.0.0.1:1/mcp"');
  expect(args).toContain('mcp_servers.pulse.bearer_token_env_var="PULSE_TOOLS_TOKEN"');
  expect(args).toContain('features.plugins=false');
  expect(args.at(-1)).toBe('-');
  expect(args.join(' ')).not.toContain(makeRun().tools.token);
  // Its two hooks, trusted by their hashes; never all that there are.
  expect(args).toContainEqual(
    expect.stringMatching(
      /^hooks\.state=.*pre_tool_use:0:0.*trusted_hash="sha256:.*post_tool_use:0:0.*trusted_hash="sha256:/,
    ),
  );
  expect(args).not.toContain('--dangerously-bypass-hook-trust');
  expect(env.PULSE_GUARD).toBe(join(makeRun().directory, 'guard.sh'));
  expect(Object.keys(files ?? {})).toEqual(['guard.sh']);
});

test('claude may work for root, who has said so by starting it', () => {
  const { env } = claudeAdapter.command(makeRun());
  expect(env.IS_SANDBOX).toBe(process.getuid?.() === 0 ? '1' : undefined);
});

test('each sees its own variables, and no other’s', () => {
  const base = {
    ANTHROPIC_API_KEY: 'a',
    CLAUDE_CONFIG_DIR: 'c',
    DISABLE_TELEMETRY: '1',
    OPENAI_API_KEY: 'o',
    CODEX_HOME: 'x',
    QWEN_HOME: 'q',
    GEMINI_API_KEY: 'gm',
    OPENCODE_CONFIG: 'oc',
    PI_OFFLINE: '1',
    COPILOT_GITHUB_TOKEN: 'cp',
    AWS_PROFILE: 'aws',
    GOOGLE_CLOUD_PROJECT: 'g',
    VERTEX_REGION: 'v',
    PULSE_HOME: 'p',
    GITHUB_TOKEN: 'gh',
  };
  const seenBy = (adapter: (typeof ADAPTERS)[number], more: Record<string, string> = {}) => {
    const all = { ...base, ...more };
    const own = [...adapter.environment, ...(adapter.environmentFor?.(all) ?? [])];
    return Object.keys(agentEnvironment({ base: all, own, pass: [], add: {} }));
  };
  const claudes = ['ANTHROPIC_API_KEY', 'CLAUDE_CONFIG_DIR', 'DISABLE_TELEMETRY'];
  expect(seenBy(claudeAdapter)).toEqual(claudes);
  expect(seenBy(claudeAdapter, { CLAUDE_CODE_USE_BEDROCK: '1' })).toEqual([
    ...claudes,
    'AWS_PROFILE',
    'GOOGLE_CLOUD_PROJECT',
    'VERTEX_REGION',
    'CLAUDE_CODE_USE_BEDROCK',
  ]);
  expect(seenBy(codexAdapter)).toEqual(['OPENAI_API_KEY', 'CODEX_HOME']);
  expect(seenBy(qwenAdapter)).toEqual(['OPENAI_API_KEY', 'QWEN_HOME']);
  expect(seenBy(geminiAdapter)).toEqual(['GEMINI_API_KEY', 'GOOGLE_CLOUD_PROJECT']);
  expect(seenBy(opencodeAdapter)).toEqual(['OPENCODE_CONFIG']);
  expect(seenBy(piAdapter)).toEqual(['PI_OFFLINE']);
  expect(seenBy(copilotAdapter)).toEqual(['COPILOT_GITHUB_TOKEN']);
});
