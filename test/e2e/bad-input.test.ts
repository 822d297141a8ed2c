import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { OWN_NODE, until, useScene } from './scene.ts';

const scene = useScene();

const EMPTY_GOAL = ['start', ''];
const OK = ['--command', 'true'];

describe('bad input', () => {
  it.each([
    ['an unknown command', ['strat'], 'usage', 'Did you mean: pulse start'],
    ['an unknown option', ['start', 'x', '--max-iteration', '3'], 'usage', '--max-iterations'],
    ['a wrong number', ['start', 'x', '--max-iterations', 'many'], 'usage', '--max-iterations'],
    ['a wrong duration', ['start', 'x', '--time-limit', 'soon'], 'usage', '--time-limit'],
    ['an empty goal', EMPTY_GOAL, 'usage', 'goal is empty'],
    ['a goal over 64 KB', ['start', 'g'.repeat(66_000), ...OK], 'too_large', '65536'],
    [
      'a missing folder',
      ['start', 'x', '--path', '/nowhere/at/all', ...OK],
      'invalid_input',
      '/nowhere/at/all',
    ],
    ['an unknown agent', ['start', 'x', '--agent', 'clude'], 'usage', 'clude'],
    ['an agent that is not installed', ['start', 'x', '--agent', 'gemini'], 'agent_unavailable', 'gemini'],
    ['no agent at all', ['start', 'x'], 'agent_unavailable', '--command'],
    ['an unknown base', ['start', 'x', '--base', 'nope', ...OK], 'unknown_base', 'nope'],
    ['a branch that exists', ['start', 'x', '--branch', 'main', ...OK], 'branch_exists', 'main'],
    ['a branch name git refuses', ['start', 'x', '--branch', 'a..b', ...OK], 'invalid_input', 'a..b'],
    ['an unknown session', ['status', 'ses_00000000'], 'not_found', 'pulse list'],
    ['an unknown session to resume', ['resume', 'nonsense'], 'not_found', 'pulse list'],
    ['an unknown setting', ['config', 'verfiy'], 'usage', 'verify'],
    ['a tool outside a run', ['tool', 'pulse_signal'], 'usage', 'inside a run'],
  ])('%s: exit 2, a clear text, nothing created', async (_, args, code, text) => {
    const before = scene.git('for-each-ref');
    const { code: exit, stderr, json } = await scene.pulse([...args, '--json']);
    expect(exit, stderr).toBe(2);
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(text);
    expect(stderr).not.toContain('    at ');
    expect(json).toHaveLength(1);
    expect(json[0]).toMatchObject({ error: { code, message: expect.any(String) } });
    await expectNothing(before);
  });

  it('a folder that is no repository: exit 2', async () => {
    const folder = join(scene.directory, 'plain');
    mkdirSync(folder);
    const { code, stderr } = await scene.pulse(['start', 'x', ...OK], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain('not inside a git repository');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a repository without a commit: exit 2 and how to make one', async () => {
    const folder = join(scene.directory, 'empty');
    mkdirSync(folder);
    scene.git('init', '-q', folder);
    const { code, stderr } = await scene.pulse(['start', 'x', ...OK], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain('no commit yet');
  });

  it('settings with a typo: exit 2 naming file and key', async () => {
    mkdirSync(join(scene.repository, '.pulse'));
    writeFileSync(join(scene.repository, '.pulse/config.yaml'), 'verfy: [x]\n');
    const { code, stderr } = await scene.pulse(['start', 'x', ...OK]);
    expect(code).toBe(2);
    expect(stderr).toContain('config.yaml');
    expect(stderr).toContain('verfy');
  });

  async function expectNothing(refsBefore: string): Promise<void> {
    expect(scene.git('for-each-ref')).toBe(refsBefore);
    expect(scene.git('status', '--porcelain')).toBe('');
    const { json } = await scene.pulse(['list', '--json']);
    expect(json[0]).toEqual({ sessions: [] });
  }
});

describe('a state directory that cannot be used', () => {
  const script = (sql: string): string =>
    `const { DatabaseSync } = require('node:sqlite'); new DatabaseSync(process.argv[1]).exec(${JSON.stringify(sql)})`;

  it('a database of a newer version is refused, untouched', async () => {
    await scene.pulse(['list']);
    execFileSync(OWN_NODE, [
      '--no-warnings',
      '-e',
      script('PRAGMA user_version = 999'),
      join(scene.home, 'pulse.db'),
    ]);
    const { code, stderr } = await scene.pulse(['start', 'x', ...OK]);
    expect(code).toBe(1);
    expect(stderr).toContain('newer Pulse');
    expect(stderr).toContain('hint:');
  });

  it('a file that is no database is refused, untouched', async () => {
    mkdirSync(scene.home);
    writeFileSync(
      join(scene.home, 'pulse.db'),
      'this is not a database, but long enough to look at\n'.repeat(50),
    );
    const { code, stderr, json } = await scene.pulse(['list', '--json']);
    expect(code).toBe(1);
    expect(stderr).toContain('error: ');
    expect(json[0]).toMatchObject({ error: { code: 'store_corrupt' } });
  });

  it('a state directory that is a file is refused with a hint', async () => {
    writeFileSync(scene.home, '');
    const { code, stderr } = await scene.pulse(['list']);
    expect(code).toBe(1);
    expect(stderr).toContain('PULSE_HOME');
  });

  it('a database that another process writes to is waited for, and it is said who', async () => {
    await scene.pulse(['list']);
    const holder = new DatabaseSync(join(scene.home, 'pulse.db'));
    holder.exec('BEGIN IMMEDIATE');
    const started = scene.start(['start', 'x', ...OK, '--max-iterations', '1', '--detach']);
    await until('it says so', () => started.output().includes('Waiting for the database'));
    expect(started.output()).toContain(`process ${process.pid} (`);
    const doctor = await scene.pulse(['doctor']);
    expect(doctor.stdout).toContain(`process ${process.pid} is writing to the database`);
    expect(scene.git('for-each-ref', 'refs/heads')).not.toContain('pulse/');
    holder.exec('COMMIT');
    holder.close();
    expect((await started.ended).code).toBe(0);
    await until('it ends', async () => !(await scene.pulse(['list'])).stdout.includes('running'));
  });
});
