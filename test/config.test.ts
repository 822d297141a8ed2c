import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS, loadConfig } from '../src/config.ts';

describe('the settings', () => {
  let folder: string;
  let project: string;
  let environment: Record<string, string>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pulse-config-'));
    project = join(folder, 'project');
    mkdirSync(project);
    environment = { HOME: join(folder, 'home') };
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function file(path: string, text: string): string {
    const at = join(folder, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
    return at;
  }
  const load = () => loadConfig(project, environment);

  it('are never waited for: a pipe, or a link out of the repository, is no file of settings', async () => {
    const path = file('project/.pulse/config.yaml', '');
    rmSync(path);
    execFileSync('mkfifo', [path]);
    const refused = { code: 'invalid_config', message: expect.stringContaining('no ordinary file') };
    // More at once than Node has threads for files.
    const loads = await Promise.allSettled(Array.from({ length: 6 }, load));
    for (const each of loads) expect(each).toMatchObject({ reason: refused });
    rmSync(path);
    symlinkSync(file('secret', 'agent: claude\n'), path);
    await expect(load()).rejects.toMatchObject({ code: 'invalid_config' });
    rmSync(path);
    symlinkSync('../settings.yaml', path);
    file('project/settings.yaml', 'agent: claude\n');
    expect((await load()).values.agent).toBe('claude');
  });

  it('are the defaults where nothing is set, and say so', async () => {
    const { values, sources } = await load();
    expect(values).toEqual(DEFAULT_SETTINGS);
    expect(values).toMatchObject({
      maxIterations: 10,
      budgetUsd: 10,
      timeLimit: 28_800_000,
      iterationTimeout: 3_600_000,
    });
    expect(new Set(Object.values(sources))).toEqual(new Set(['default']));
    expect(sources.agent).toBeUndefined();
  });

  it('come from the user, over that the project, over that the environment, each with its source', async () => {
    const user = file(
      'home/.config/pulse/config.yaml',
      'maxIterations: 3\nbudgetUsd: 3\nagent: codex\ntimeLimit: 3h\n',
    );
    const own = file('project/.pulse/config.yaml', 'maxIterations: 4\nbudgetUsd: none\nverify: [npm test]\n');
    environment.PULSE_MAX_ITERATIONS = '5';
    const { values, sources } = await load();
    expect(values).toMatchObject({
      maxIterations: 5,
      budgetUsd: null,
      agent: 'codex',
      timeLimit: 3 * 3_600_000,
      verify: ['npm test'],
      idleTimeout: 600_000,
    });
    expect(sources).toMatchObject({
      budgetUsd: own,
      agent: user,
      timeLimit: user,
      verify: own,
      idleTimeout: 'default',
    });
    expect(sources.maxIterations).toBe('PULSE_MAX_ITERATIONS');
  });

  it('are read from XDG_CONFIG_HOME where it is set', async () => {
    environment.XDG_CONFIG_HOME = join(folder, 'xdg');
    file('home/.config/pulse/config.yaml', 'maxIterations: 3\n');
    file('xdg/pulse/config.json', '{"maxIterations": 7}');
    expect((await load()).values.maxIterations).toBe(7);
  });

  it.each([
    ['config.yml', 'maxIterations: 6'],
    ['config.json', '{"maxIterations": 6}'],
    ['config.yaml', '# nothing but this\nmaxIterations: 6\n'],
  ])('are read from %s', async (name, text) => {
    file(`project/.pulse/${name}`, text);
    expect((await load()).values.maxIterations).toBe(6);
  });

  it('may be an empty file', async () => {
    file('project/.pulse/config.yaml', '');
    expect((await load()).values).toEqual(DEFAULT_SETTINGS);
  });

  it.each([
    ['wait: off', 'off'],
    ['wait: on', 'on'],
    ['wait: false', false],
  ])('take limits.%s', async (line, wait) => {
    file('project/.pulse/config.yaml', `limits:\n  ${line}\n`);
    expect((await load()).values.limits.wait).toBe(wait);
  });

  it.each([
    ['an unknown key', 'maxIteration: 3', 'maxIteration'],
    ['an unknown key inside', 'completion: {inferred: accept, more: 1}', 'more'],
    ['a number where a duration belongs', 'timeLimit: 10', 'timeLimit'],
    ['a duration that is none', 'timeLimit: soon', '"soon" is not a duration'],
    ['a duration of nothing', 'idleTimeout: 0s', 'idleTimeout'],
    ['a text where a list belongs', 'verify: npm test', 'verify'],
    ['an empty command', "verify: ['']", 'verify'],
    ['no budget', 'budgetUsd: 0', 'budgetUsd'],
    ['no glob of tests', 'tests: []', 'tests'],
    ['half an iteration', 'maxIterations: 1.5', 'maxIterations'],
    ['a strategy that is none', 'context: all', 'context'],
    ['a list instead of settings', '- a\n- b', 'file'],
    ['broken YAML', 'verify: [a', 'config.yaml'],
    ['the same key twice', 'agent: a\nagent: b', 'unique'],
  ])('refuse %s, and name it', async (_, text, named) => {
    const source = file('project/.pulse/config.yaml', text);
    await expect(load()).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining(named),
      data: { source },
    });
  });

  it.each([
    ['PULSE_MAX_ITERATIONS', 'many'],
    ['PULSE_MAX_ITERATIONS', '-1'],
    ['PULSE_BUDGET_USD', 'NaN'],
    ['PULSE_TIME_LIMIT', '5'],
    ['PULSE_CONTEXT', 'everything'],
  ])('refuse %s=%s, and name the variable', async (variable, value) => {
    environment[variable] = value;
    await expect(load()).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining(variable),
    });
  });

  it('take every scalar from the environment, and ignore an empty one', async () => {
    Object.assign(environment, {
      PULSE_AGENT: 'demo',
      PULSE_COMMAND: 'run it',
      PULSE_MAX_ITERATIONS: '2',
      PULSE_BUDGET_USD: 'none',
      PULSE_BUDGET_TOKENS: '1000',
      PULSE_TIME_LIMIT: '90s',
      PULSE_ITERATION_TIMEOUT: '',
      PULSE_IDLE_TIMEOUT: '1h30m',
      PULSE_CONTEXT: 'hybrid',
    });
    expect((await load()).values).toMatchObject({
      agent: 'demo',
      command: 'run it',
      maxIterations: 2,
      budgetUsd: null,
      budgetTokens: 1000,
      timeLimit: 90_000,
      iterationTimeout: 3_600_000,
      idleTimeout: 5_400_000,
      context: 'hybrid',
    });
  });

  it('say so where a file cannot be read', async () => {
    mkdirSync(join(project, '.pulse/config.yaml'), { recursive: true });
    await expect(load()).rejects.toMatchObject({ code: 'invalid_config' });
  });
});
