import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTerminal, SCRIPT } from './open-terminal.ts';
import { OWN_NODE, PROGRAM, until, useScene } from './scene.ts';

const scene = useScene();
const COMPLETE = 'echo x > x; echo "Done. <signal>COMPLETE</signal>"';

function config(text: string): string {
  mkdirSync(join(scene.repository, '.pulse'), { recursive: true });
  const path = join(scene.repository, '.pulse/config.yaml');
  writeFileSync(path, text);
  return path;
}

describe('a config that came with the repository', () => {
  it('stops a start with nobody to ask; what the hint says lets it begin, until the file changes', async () => {
    const agent = scene.agent(COMPLETE);
    const path = config(`command: ${agent}\nmaxIterations: 2\n`);
    const start = ['start', 'Go', '--json'];
    const refused = await scene.pulse(start);
    expect(refused.code).toBe(2);
    expect(refused.json[0]).toMatchObject({
      error: { code: 'untrusted_config', details: { path, settings: { command: agent } } },
    });
    expect((await scene.pulse(['list', '--json'])).json[0]).toEqual({ sessions: [] });

    // The hint's own command, as a person would copy it.
    const [, hint] = /`pulse (trust --path [^`]+)`/.exec(refused.stderr)!;
    const asked = await scene.pulse(hint!.replaceAll("'", '').split(' '));
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('pulse trust --yes')]);
    expect(asked.stderr).toContain(`set command: "${agent}"`);
    expect((await scene.pulse(['trust', '--yes'])).code).toBe(0);
    const ended = await scene.pulse(start);
    expect(ended.json.at(-1)).toMatchObject({ session: { status: 'complete', max_iterations: 2 } });

    config(`command: ${agent}\nenv: {pass: ["*"]}\n`);
    expect((await scene.pulse(start)).code).toBe(2);
  });

  it('is taken for one session with --trust, and is asked for again at the next', async () => {
    config(`command: ${scene.agent(COMPLETE)}\n`);
    const { code, json } = await scene.pulse(['start', 'Go', '--trust', '--json']);
    expect(code).toBe(0);
    const created = json.find(({ type }) => type === 'session.created');
    expect(created).toMatchObject({ data: { trust: 'session' } });
    expect((await scene.pulse(['start', 'Go'])).code).toBe(2);
  });

  it('stops workflows and research too', async () => {
    config('setup: [touch ran]\n');
    writeFileSync(
      join(scene.directory, 'plan.yaml'),
      'title: T\npulses: [{id: one, title: One, description: Do it.}]\n',
    );
    writeFileSync(
      join(scene.directory, 'research.yaml'),
      'goal: G\nmetric: {name: n, direction: lower, verifyCommand: echo 1}\nscope: {inScope: [a.txt]}\n',
    );
    for (const args of [
      ['workflow', 'start', '../plan.yaml', '--agent', 'demo'],
      ['workflow', 'plan', 'G', '--agent', 'demo'],
      ['research', 'start', '../research.yaml', '--agent', 'demo'],
    ]) {
      const { code, json } = await scene.pulse([...args, '--json']);
      expect([args, code, json[0]]).toMatchObject([args, 2, { error: { code: 'untrusted_config' } }]);
    }
  });

  it('is shown as what it is by config and doctor, with its words made safe', async () => {
    const path = config('verify: ["echo \\e]0;evil\\a \\u202e"]\n');
    const state = async () => (await scene.pulse(['config', '--json'])).json[0];
    expect(await state()).toMatchObject({ project: { path, trust: 'untrusted' } });
    expect((await scene.pulse(['config'])).stderr).toContain('not trusted');
    expect((await scene.pulse(['doctor'])).stdout).toMatch(/! config .*not trusted/);
    const { stdout, stderr } = await scene.pulse(['trust', '--yes']);
    expect(stdout + stderr).toContain('set verify:');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    expect(stdout + stderr).not.toMatch(/[\x1b\x07\u202e]/);
    expect(await state()).toMatchObject({ project: { trust: 'trusted' } });
    expect((await scene.pulse(['doctor'])).stdout).toMatch(/✓ config .*, trusted/);
    config('maxIterations: 3\n');
    expect(await state()).toMatchObject({ project: { trust: 'unneeded' } });
    expect((await scene.pulse(['trust'])).stdout).toContain('need no trust');
    rmSync(path);
    expect(await state()).toMatchObject({ project: null });
    expect((await scene.pulse(['trust'])).code).toBe(2);
  });

  it('is trusted by pulse init for what that wrote', async () => {
    writeFileSync(join(scene.repository, 'package.json'), '{"scripts": {"test": "true"}}');
    expect((await scene.pulse(['init'])).code).toBe(0);
    expect((await scene.pulse(['config', '--json'])).json[0]).toMatchObject({
      project: { trust: 'trusted' },
    });
  });

  it('cannot be trusted, and no session be started, from inside a run', async () => {
    config('verify: [make]\n');
    const env = { PULSE_RUN_ID: 'tsk_1.1' };
    for (const args of [
      ['trust', '--yes'],
      ['init', '--force'],
      ['start', 'Go', '--agent', 'demo', '--trust'],
      ['start', 'Go', '--agent', 'demo', '--budget-usd', 'none'],
      ['start', 'Go', '--agent', 'demo', '--sandbox', 'off'],
    ]) {
      const { code, json } = await scene.pulse([...args, '--json'], { env });
      expect([args, code, json[0]]).toMatchObject([args, 2, { error: { code: 'inside_run' } }]);
    }
    expect(existsSync(join(scene.home, 'trust'))).toBe(false);
    expect((await scene.pulse(['list', '--json'])).json[0]).toEqual({ sessions: [] });
  });
});

describe('pulse init', () => {
  it.each(['.pulse', '.pulse/config.yaml'])('writes through no symlink at %s', async (name) => {
    const elsewhere = join(scene.directory, 'elsewhere');
    mkdirSync(elsewhere);
    const victim = join(elsewhere, 'config.yaml');
    writeFileSync(victim, 'agent: mine\n');
    if (name === '.pulse') symlinkSync(elsewhere, join(scene.repository, '.pulse'));
    else {
      mkdirSync(join(scene.repository, '.pulse'));
      symlinkSync(victim, join(scene.repository, name));
    }
    await scene.pulse(['init']);
    await scene.pulse(['init', '--force']);
    expect(readFileSync(victim, 'utf8')).toBe('agent: mine\n');
  });

  it('names no agent where none is installed, so that one installed later is taken', async () => {
    const bin = join(scene.directory, 'bin');
    mkdirSync(bin);
    for (const name of ['git', 'sh'])
      symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(bin, name));
    const env = { PATH: bin, OPENAI_API_KEY: undefined, ANTHROPIC_API_KEY: undefined };
    const { code, stderr } = await scene.pulse(['init'], { env });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('agent   none found');
    expect(readFileSync(join(scene.repository, '.pulse/config.yaml'), 'utf8')).not.toMatch(/^agent:/m);
    expect((await scene.pulse(['config', 'agent', '--json'], { env })).json[0]).toEqual({
      settings: { agent: { value: null, source: 'not set' } },
    });
    const doctor = await scene.pulse(['doctor'], { env });
    expect(doctor.stdout).toMatch(/· agent +acp, with --command/);
    expect(doctor.stdout).toContain('no coding agent was found');
    const refused = await scene.pulse(['start', 'Go', '--json'], { env });
    expect(refused.json[0]).toMatchObject({ error: { code: 'agent_unavailable' } });
  });
});

describe.skipIf(!existsSync(SCRIPT))('on a terminal', () => {
  const command = (line: string): string => `exec '${OWN_NODE}' '${PROGRAM}' ${line}`;

  it('the start itself asks once, and yes is remembered', async () => {
    config(`command: ${scene.agent(COMPLETE)}\n`);
    const no = openTerminal(scene, command("start 'Go'"));
    await until('it asks', () => no.screen().includes('Trust what it says now? [y/N]'));
    expect(no.screen()).toContain('set command:');
    no.type('\r');
    expect(await no.exit).toBe(2);
    const yes = openTerminal(scene, command("start 'Go'"));
    await until('it asks', () => yes.screen().includes('[y/N]'));
    yes.type('y\r');
    expect(await yes.exit).toBe(0);
    expect(yes.screen()).toContain('✓ complete');
    expect((await scene.pulse(['start', 'Go', '--json'])).code).toBe(0);
  });

  it('pulse trust asks as well', async () => {
    config('verify: [make]\n');
    const { screen, type, exit } = openTerminal(scene, command('trust'));
    await until('it asks', () => screen().includes('[y/N]'));
    type('yes\r');
    expect(await exit).toBe(0);
    expect(screen()).toContain('Trusted ');
  });
});
