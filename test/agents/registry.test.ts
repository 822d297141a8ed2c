import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandAdapter } from '../../src/agents/command.ts';
import type { AgentAdapter } from '../../src/agents/contract.ts';
import { demoAdapter } from '../../src/agents/demo.ts';
import {
  AGENT_NAMES,
  type AgentWish,
  chooseAgent,
  createAgentRegistry,
  detectAgents,
  findAdapter,
} from '../../src/agents/registry.ts';
import { makeFolder } from './fixture.ts';

const NOTHING: AgentWish = { wanted: null, configured: null, command: null, env: {} };

/** An agent that is installed when its name stands in the environment. */
function fakeAgent(name: string): AgentAdapter {
  return {
    ...commandAdapter,
    name,
    async detect(env) {
      const available = env[name] !== undefined;
      return {
        available,
        path: env[name] ?? null,
        version: null,
        hint: available ? null : `Install ${name}.`,
      };
    },
  };
}

/** In the wrong order on purpose. */
const registry = createAgentRegistry([demoAdapter, fakeAgent('codex'), commandAdapter, fakeAgent('claude')]);

describe('finding an adapter', () => {
  test.each(['command', 'demo', 'replay'])('%s is there', (name) => {
    expect(findAdapter(name).name).toBe(name);
  });

  test('an agent that this version cannot run is unavailable, and the error says which ones it can', () => {
    const error = expect.objectContaining({
      code: 'agent_unavailable',
      hint: expect.stringContaining('command, demo, replay'),
    });
    expect(() => findAdapter('native')).toThrow(error);
  });

  test.each(['cluade', '', 'toString', 'Claude'])(
    'an unknown name is a usage error with the list (%j)',
    (name) => {
      const error = expect.objectContaining({
        code: 'usage',
        hint: expect.stringContaining('claude, codex, gemini'),
      });
      expect(() => findAdapter(name)).toThrow(error);
    },
  );
});

describe('choosing an agent', () => {
  const choose = async (wish: Partial<AgentWish>) => {
    const { name, chosenBy } = await registry.chooseAgent({ ...NOTHING, ...wish });
    return `${name} by ${chosenBy}`;
  };
  const env = { claude: '/bin/claude', codex: '/bin/codex' };

  test('takes the one that is wanted, then the configured one, then the first installed in order', async () => {
    expect(await choose({ wanted: 'codex', configured: 'claude', env })).toBe('codex by wanted');
    expect(await choose({ configured: 'codex', env })).toBe('codex by configured');
    expect(await choose({ env })).toBe('claude by installed');
    expect(await choose({ env: { codex: '/bin/codex' } })).toBe('codex by installed');
  });

  test('a command implies the agent that runs commands, whatever is configured', async () => {
    expect(await choose({ command: 'my-agent', configured: 'claude', env })).toBe('command by command');
    expect(await choose({ command: 'my-agent', wanted: 'command' })).toBe('command by wanted');
    expect((await chooseAgent({ ...NOTHING, command: 'runs/', wanted: 'replay' })).name).toBe('replay');
  });

  test('never takes demo, replay or command by itself, and says what can be done', async () => {
    await expect(chooseAgent(NOTHING)).rejects.toMatchObject({
      code: 'agent_unavailable',
      hint: expect.stringMatching(/--command.*--agent demo/),
    });
  });

  test.each<[string, Partial<AgentWish>, string, RegExp]>([
    ['one that is not installed', { wanted: 'claude' }, 'agent_unavailable', /Install claude/],
    ['a configured one that is not installed', { configured: 'codex' }, 'agent_unavailable', /Install codex/],
    ['one without adapter', { wanted: 'native' }, 'agent_unavailable', /It can run/],
    ['an unknown one', { configured: 'gpt' }, 'usage', /Agents: claude/],
    ['command without a command', { wanted: 'command' }, 'usage', /--command CMD/],
    ['an agent that takes no command', { wanted: 'claude', command: 'x', env }, 'usage', /Leave out/],
  ])('refuses %s', async (_, wish, code, hint) => {
    await expect(choose(wish)).rejects.toMatchObject({ code, hint: expect.stringMatching(hint) });
  });

  test('refuses an empty command', async () => {
    await expect(choose({ command: ' ' })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('detecting agents', () => {
  test('tells of every name, in order, and of those that are found but not supported', async () => {
    const bin = makeFolder({ codex: '#!/bin/sh\n', 'my-claude': '#!/bin/sh\n', gemini: 'not executable' });
    chmodSync(join(bin, 'codex'), 0o755);
    chmodSync(join(bin, 'my-claude'), 0o755);
    const env = {
      PATH: bin,
      PULSE_AGENT_CLAUDE_BIN: join(bin, 'my-claude'),
      PULSE_AGENT_QWEN_BIN: '/nowhere/qwen',
    };
    const detected = await detectAgents(env);
    expect(detected.map(({ name }) => name)).toEqual([...AGENT_NAMES]);
    const of = (wanted: string) => detected.find(({ name }) => name === wanted)!;
    const hint = 'Found, not supported by this version yet.';
    expect(of('codex')).toEqual({
      name: 'codex',
      isSupported: false,
      detection: { available: false, path: join(bin, 'codex'), version: null, hint },
    });
    expect(of('claude').detection).toMatchObject({ available: false, path: join(bin, 'my-claude'), hint });
    expect(of('gemini').detection).toMatchObject({ available: false, path: null });
    expect(of('qwen').detection.hint).toContain('PULSE_AGENT_QWEN_BIN: /nowhere/qwen was not found');
    expect(of('native').detection.hint).toBe('Not supported by this version yet.');
    expect(of('demo')).toMatchObject({ isSupported: true, detection: { available: true } });
  });
});
