import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandAdapter } from '../../src/agents/command/adapter.ts';
import type { AgentAdapter } from '../../src/agents/contract.ts';
import { demoAdapter } from '../../src/agents/demo/adapter.ts';
import {
  AGENT_NAMES,
  type AgentWish,
  chooseAgent,
  createAgentRegistry,
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
  test.each(AGENT_NAMES)('%s is there', (name) => {
    expect(findAdapter(name).name).toBe(name);
  });

  test('an agent that this version cannot run is unavailable, and the error says which ones it can', () => {
    const error = expect.objectContaining({
      code: 'agent_unavailable',
      hint: expect.stringContaining('It can run claude, codex, command, demo.'),
    });
    expect(() => registry.findAdapter('acp')).toThrow(error);
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

  test('asks an agent whether it can be used with the model that is wanted', async () => {
    const wish = { ...NOTHING, env: {} };
    const native = { name: 'native', path: expect.stringContaining('agent') };
    expect(await chooseAgent({ ...wish, wanted: 'native', model: 'ollama/qwen3' })).toMatchObject(native);
    expect(await chooseAgent({ ...wish, model: 'ollama/qwen3' })).toMatchObject(native);
    await expect(chooseAgent({ ...wish, wanted: 'native' })).rejects.toMatchObject({
      code: 'agent_unavailable',
    });
    await expect(chooseAgent({ ...wish, wanted: 'native', model: 'gpt-5' })).rejects.toMatchObject({
      hint: 'OPENAI_API_KEY is not set.',
    });
  });

  test('refuses an empty command', async () => {
    await expect(choose({ command: ' ' })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('detecting agents', () => {
  test('tells of every name, in order, and of those that are found but not supported', async () => {
    const bin = makeFolder({ copilot: '#!/bin/sh\n', 'my-pi': '#!/bin/sh\n', gemini: 'not executable' });
    chmodSync(join(bin, 'copilot'), 0o755);
    chmodSync(join(bin, 'my-pi'), 0o755);
    const env = {
      PATH: bin,
      PULSE_AGENT_PI_BIN: join(bin, 'my-pi'),
      PULSE_AGENT_OPENCODE_BIN: '/nowhere/opencode',
    };
    const { detectAgents } = createAgentRegistry([demoAdapter]);
    const detected = await detectAgents(env);
    expect(detected.map(({ name }) => name)).toEqual([...AGENT_NAMES]);
    const of = (wanted: string) => detected.find(({ name }) => name === wanted)!;
    const hint = 'Found, not supported by this version yet.';
    expect(of('copilot')).toEqual({
      name: 'copilot',
      isSupported: false,
      detection: { available: false, path: join(bin, 'copilot'), version: null, hint },
    });
    expect(of('pi').detection).toMatchObject({ available: false, path: join(bin, 'my-pi'), hint });
    expect(of('gemini').detection).toMatchObject({ available: false, path: null });
    expect(of('opencode').detection.hint).toContain(
      'PULSE_AGENT_OPENCODE_BIN: /nowhere/opencode was not found',
    );
    expect(of('native').detection.hint).toBe('Not supported by this version yet.');
    expect(of('demo')).toMatchObject({ isSupported: true, detection: { available: true } });
  });
});

describe.each(['claude', 'codex', 'qwen'])('detecting %s', (name) => {
  const variable = `PULSE_AGENT_${name.toUpperCase()}_BIN`;

  async function detect(script: string | null) {
    const bin = makeFolder(script === null ? {} : { [name]: `#!/bin/sh\n${script}\n` });
    if (script !== null) chmodSync(join(bin, name), 0o755);
    const detection = await findAdapter(name).detect({ PATH: `${bin}:/usr/bin:/bin` });
    return { bin, detection };
  }

  test('says where it is, its version and which ones are tested', async () => {
    const { tested } = (await detect(null)).detection;
    const { bin, detection } = await detect(`echo "some ${tested!.to} (Words)"`);
    expect(detection).toEqual({
      available: true,
      path: join(bin, name),
      version: tested!.to,
      tested,
      hint: null,
    });
  });

  test.each([
    ['echo 0.0.1', 'Older than what is tested'],
    ['echo 999.1.2-beta.3', 'Newer than what is tested'],
    ['echo nothing to see', 'Its version could not be read'],
    ['exit 1', 'Its version could not be read'],
  ])('can be used, with a doubt, when %j is its answer', async (script, hint) => {
    const { detection } = await detect(script);
    expect(detection).toMatchObject({ available: true, hint: expect.stringContaining(hint) });
    expect(detection.hint).toMatch(/Pulse is tested with \w+ [\d.]+\./);
    expect(detection.hint?.includes('may pass over the guard')).toBe(name === 'codex');
  });

  test('says how to get it where it is not, and which variable named nothing', async () => {
    expect((await detect(null)).detection).toMatchObject({
      available: false,
      path: null,
      hint: expect.stringMatching(/^Not found\. Install it with: npm install -g @/),
    });
    const detection = await findAdapter(name).detect({ [variable]: '/nowhere/it', PATH: '/usr/bin' });
    expect(detection.hint).toContain(`${variable}: /nowhere/it was not found`);
  });

  test('is chosen without being started', async () => {
    const bin = makeFolder({ [name]: '#!/bin/sh\n: > "$0.was-started"\n' });
    chmodSync(join(bin, name), 0o755);
    const env = { PATH: bin };
    expect(await chooseAgent({ ...NOTHING, env })).toMatchObject({
      name,
      path: join(bin, name),
      chosenBy: 'installed',
    });
    expect(
      await chooseAgent({ ...NOTHING, wanted: name, env: { [variable]: join(bin, name) } }),
    ).toMatchObject({
      path: join(bin, name),
      chosenBy: 'wanted',
    });
    expect(existsSync(join(bin, `${name}.was-started`))).toBe(false);
  });
});

test('npm’s codex is a script: the program behind it is what is started', () => {
  const package_ = 'node_modules/@openai';
  const native = `${package_}/codex-${process.platform}-${process.arch}/vendor/some-triple/bin/codex`;
  const folder = makeFolder({
    [`${package_}/codex/bin/codex.js`]: '#!/bin/sh\n',
    [native]: '',
    'bin/.keep': '',
  });
  const script = join(folder, package_, 'codex/bin/codex.js');
  chmodSync(script, 0o755);
  symlinkSync(script, join(folder, 'bin/codex'));
  const { locate } = findAdapter('codex');
  expect(locate?.({ PATH: join(folder, 'bin') })).toBe(join(folder, native));
  rmSync(join(folder, native));
  expect(locate?.({ PATH: join(folder, 'bin') })).toBe(join(folder, 'bin/codex'));
});
