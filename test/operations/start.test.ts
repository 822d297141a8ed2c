import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StartInput } from '../../src/operations/start.ts';
import { makeScene } from '../engine/scene.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';

const ASKED: Pick<StartInput, 'goal' | 'createdBy' | 'command'> = {
  goal: 'go',
  createdBy: 'cli',
  command: 'true',
};

const RESEARCH = {
  goal: 'Faster',
  metric: { name: 'ms', direction: 'lower', verifyCommand: 'echo 1' },
  scope: { inScope: ['src/**'] },
};

describe('starting a session', () => {
  it('writes rows and nothing else: no branch, no worktree, no change to the repository', async () => {
    const { pulse, root, sh, refs } = await makeScene();
    const { session } = await pulse.start({ ...ASKED, path: root });
    expect(session.status).toBe('pending');
    expect(sh(root, 'branch', '--format=%(refname:short)')).toBe('main');
    expect(refs()).toEqual([]);
    expect(existsSync(pulse.home.worktrees)).toBe(false);
    expect(sh(root, 'status', '--porcelain')).toBe('');
  });

  it.each<[string, Partial<StartInput>, string]>([
    ['an empty goal', { goal: ' \n' }, 'usage'],
    ['a goal with a NUL', { goal: 'a\0b' }, 'invalid_input'],
    ['a goal of more than 64 KB', { goal: 'x'.repeat(64 * 1024 + 1) }, 'too_large'],
    ['an agent that is none', { agent: 'nobody', command: undefined }, 'usage'],
    ['an agent that cannot be run yet', { agent: 'native', command: undefined }, 'agent_unavailable'],
    ['a command for an agent that takes none', { agent: 'demo' }, 'usage'],
    ['no command for the command agent', { agent: 'command', command: undefined }, 'usage'],
    ['a model that an agent would take for an option', { model: '--yolo' }, 'usage'],
    ['a base that is none', { base: 'no-such-branch' }, 'unknown_base'],
    ['a base that is an option', { base: '--all' }, 'unknown_base'],
    ['a branch that exists', { branch: 'main' }, 'branch_exists'],
    ['a branch that cannot be', { branch: 'a..b' }, 'invalid_input'],
  ])('refuses %s, and creates nothing', async (_, input, code) => {
    const { pulse, root, sh } = await makeScene();
    const before = readdirSync(root);
    await expect(pulse.start({ ...ASKED, path: root, ...input })).rejects.toMatchObject({ code });
    expect((await pulse.list({})).sessions).toEqual([]);
    expect(sh(root, 'branch', '--format=%(refname:short)')).toBe('main');
    expect(readdirSync(root)).toEqual(before);
  });

  it.each(['by its name', 'through a symlink'])(
    'refuses a project in the state directory %s, such as a repository an agent made in its worktree',
    async (how) => {
      const { pulse, folder, sh, run, start } = await makeScene();
      const nested = 'git init -q nested && git -C nested commit -q --allow-empty -m x';
      const agent = 'git -c user.name=a -c user.email=a@b';
      const session = await start(
        `${nested.replace('git -C', `${agent} -C`)}; sleep 0; echo "<signal>BLOCKED: x</signal>"`,
      );
      await run(session);
      const inside = join(session.worktree_path!, 'nested');
      symlinkSync(inside, join(folder, 'alias'));
      const path = how === 'by its name' ? inside : join(folder, 'alias');
      expect(sh(inside, 'rev-parse', '--show-toplevel')).toContain('nested');
      for (const begin of [
        () => pulse.start({ ...ASKED, path }),
        () => pulse.start({ ...ASKED, path: session.worktree_path! }),
        () => pulse.workflow.start({ ...ASKED, goal: 'x', actor: 'test', path }),
        () => pulse.research.start({ ...ASKED, content: RESEARCH, path }),
      ]) {
        await expect(begin()).rejects.toMatchObject({ code: 'path_outside', hint: expect.any(String) });
      }
      expect((await pulse.list({})).sessions).toHaveLength(1);
    },
  );

  it.each<[string, boolean, Partial<StartInput>, Record<string, string>]>([
    ['a command', true, {}, {}],
    ['the demo', false, { agent: 'demo', command: undefined }, {}],
    [
      'native with a model of its own choice',
      false,
      { agent: 'native', command: undefined },
      { OPENAI_API_KEY: 'k' },
    ],
    [
      'native with a model that has a price',
      false,
      { agent: 'native', model: 'gpt-5-mini' },
      { OPENAI_API_KEY: 'k' },
    ],
    ['native with one that has none', true, { agent: 'native', model: 'ollama/qwen3' }, {}],
    ['native with one that the config prices', false, { agent: 'native', model: 'ollama/mine' }, {}],
    // It is not told the model: what it uses is known when it says so.
    ['acp, whatever model is named', true, { agent: 'acp', model: 'gpt-5.1', command: 'x' }, {}],
    ['acp with a model of its own choice', true, { agent: 'acp', command: 'x' }, {}],
  ])('of %s it says whether the cost is unknown: %s', async (_, isCostUnknown, input, more) => {
    const { pulse, root, environment } = await makeScene({ environment: more });
    const text = 'prices: { mine: { input: 1, output: 2 } }\n';
    await writeTrustedConfig(root, { text, environment });
    const { notes } = await pulse.start({
      ...ASKED,
      command: input.agent ? undefined : 'true',
      path: root,
      ...input,
    });
    expect(notes.isCostUnknown).toBe(isCostUnknown);
    // Only who does not know its model yet may count later what was not known at first.
    expect(notes.isCostOpen).toBe(input.agent === 'acp');
  });

  it('refuses a folder that is missing, no repository, or without a commit', async () => {
    const empty = await makeScene({ repo: { commit: false, files: {} } });
    const start = (path: string) => empty.pulse.start({ ...ASKED, path });
    await expect(start(join(empty.folder, 'none'))).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(start(empty.folder)).rejects.toMatchObject({ code: 'not_a_repository' });
    await expect(start(empty.root)).rejects.toMatchObject({ code: 'no_commits' });
    expect((await empty.pulse.list({})).sessions).toEqual([]);
  });

  it('refuses settings that are wrong, naming the file', async () => {
    const { pulse, root } = await makeScene();
    mkdirSync(join(root, '.pulse'));
    writeFileSync(join(root, '.pulse/config.yaml'), 'maxIterations: lots\n');
    await expect(pulse.start({ ...ASKED, path: root })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('.pulse/config.yaml'),
    });
  });

  it.each([
    ['is none', 'nobody', 'usage', /There is no agent/],
    ['needs a command', 'acp', 'invalid_config', /needs a command/],
    ['is not installed', 'gemini', 'agent_unavailable', /fallback agent gemini cannot be used here/],
  ])('refuses a fallback agent that %s, and creates nothing', async (_, name, code, message) => {
    const { pulse, root, environment } = await makeScene();
    await writeTrustedConfig(root, { text: `fallbackAgent: ${name}\n`, environment });
    const refused = expect.objectContaining({ code, message: expect.stringMatching(message) });
    await expect(pulse.start({ ...ASKED, path: root })).rejects.toEqual(refused);
    expect((await pulse.list({})).sessions).toEqual([]);
  });

  it('takes what was asked over the settings, and the settings over the defaults', async () => {
    const { pulse, root, environment } = await makeScene();
    const settings = 'command: from-config\nverify: [a]\nmaxIterations: 4\nbudgetUsd: 3\nidleTimeout: 5m\n';
    await writeTrustedConfig(root, { text: settings, environment });
    const { session } = await pulse.start({
      goal: 'go',
      createdBy: 'api',
      path: root,
      maxIterations: 2,
      budgetUsd: null,
    });
    expect(session).toMatchObject({
      command: 'from-config',
      verify: ['a'],
      max_iterations: 2,
      budget_usd: null,
      idle_timeout_ms: 300_000,
      time_limit_ms: 28_800_000,
      created_by: 'api',
    });
    const plain = await pulse.start({ ...ASKED, path: root, verify: [] });
    expect(plain.session).toMatchObject({ command: 'true', verify: [], budget_usd: 3 });
  });

  it('starts in a folder below the root, from another base, on a branch of that name', async () => {
    const { pulse, root, sh } = await makeScene({ repo: { files: { 'deep/a.txt': 'a' } } });
    sh(root, 'tag', 'v1');
    writeFileSync(join(root, 'b.txt'), 'b');
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'later');
    const { session } = await pulse.start({
      ...ASKED,
      path: join(root, 'deep'),
      base: 'v1',
      branch: 'feature/x',
    });
    expect(session).toMatchObject({
      project_path: root,
      base_branch: null,
      base_sha: sh(root, 'rev-parse', 'v1'),
      branch_name: 'feature/x',
    });
  });

  it('finds another name where a branch called pulse is in the way', async () => {
    const { pulse, root, sh } = await makeScene();
    sh(root, 'branch', 'pulse');
    const { session } = await pulse.start({ ...ASKED, path: root });
    expect(session.branch_name).toMatch(/^pulse-go-[0-9a-f]{4}$/);
  });
});
