import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { OWN_NODE, olderNode, PROGRAM, useScene } from './scene.ts';

const scene = useScene();
const SHIPS = 'echo x > x; echo "Shipped. <signal>COMPLETE</signal>"';

async function completeSession(...options: string[]): Promise<{ id: string; branch: string }> {
  const { json } = await scene.pulse([
    'start',
    'Ship it',
    '--command',
    scene.agent(SHIPS),
    '--json',
    ...options,
  ]);
  const { session } = json.at(-1) as unknown as { session: { id: string; branch_name: string } };
  return { id: session.id, branch: session.branch_name };
}

describe('help', () => {
  it('names every offered command and no machinery', async () => {
    const { code, stdout } = await scene.pulse([]);
    expect(code).toBe(0);
    for (const { name, isHidden } of COMMANDS) {
      if (isHidden) expect(stdout).not.toMatch(new RegExp(`^ {2}${name}`, 'm'));
      else expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
    expect((await scene.pulse(['help'])).stdout).toBe(stdout);
    expect((await scene.pulse(['help', 'start'])).stdout).toContain('--max-iterations N');
    expect((await scene.pulse(['start', '--help'])).stdout).toContain('Ctrl-C');
  });

  it.each([OWN_NODE, olderNode()])('tells its version at once (%s)', async (node) => {
    if (!node) return;
    const { stdout, code } = await scene.pulse(['--version'], { node });
    expect([code, stdout.trim()]).toEqual([
      0,
      JSON.parse(readFileSync(join(PROGRAM, '../../package.json'), 'utf8')).version,
    ]);
  });

  it.each(['bash', 'zsh', 'fish'])('writes a completion script for %s', async (shell) => {
    const { code, stdout } = await scene.pulse(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('max-iterations');
    if (shell === 'bash') execFileSync('bash', ['-n'], { input: stdout });
  });
});

describe('looking at sessions', () => {
  it('status, list, log and export tell the same session', async () => {
    const { id, branch } = await completeSession('--verify', 'test -f x');
    const status = await scene.pulse(['status', id, '--json']);
    expect(status.json[0]).toMatchObject({
      session: { id, branch_name: branch },
      iterations: [{ iteration_number: 1 }],
    });
    expect((await scene.pulse(['status', id])).stdout).toContain('✓ complete  verified by test -f x');
    expect((await scene.pulse(['list', '--status', 'complete'])).stdout).toContain(id);
    expect((await scene.pulse(['list', '--status', 'failed', '--json'])).json[0]).toEqual({ sessions: [] });
    const log = await scene.pulse(['log', id, '--iteration', '1']);
    expect(log.stdout).toContain('Shipped.');
    expect(log.stdout).toContain('passed test -f x');
    const whole = await scene.pulse(['export', id]);
    expect(JSON.parse(whole.stdout)).toMatchObject({
      session: { id },
      verifications: [{ command: 'test -f x', passed: true }],
    });
    const report = join(scene.directory, 'report.md');
    expect((await scene.pulse(['export', id, '--output', report])).code).toBe(0);
    expect(readFileSync(report, 'utf8')).toMatch(/\*\*passed\*\*: `test -f x` \(exit 0/);
    const all = await scene.pulse(['status', '--json']);
    expect(all.json[0]).toMatchObject({ sessions: [], handoffs: [] });
  });

  it('marks an unverified completion everywhere', async () => {
    const { id } = await completeSession();
    for (const args of [['list'], ['status', id], ['log', id], ['export', id, '--format', 'md']]) {
      expect((await scene.pulse(args)).stdout, args.join(' ')).toContain('unverified');
    }
  });
});

describe('pulse verify', () => {
  it('is fresh for the same tree, stale once the branch moved, and refuses where nothing was verified', async () => {
    const { id, branch } = await completeSession('--verify', 'test -f x');
    const fresh = await scene.pulse(['verify', id]);
    expect(fresh.stdout).toContain('fresh  test -f x');
    expect(fresh.code).toBe(0);
    scene.git('switch', '-q', branch);
    writeFileSync(join(scene.repository, 'more'), 'm');
    scene.git('add', 'more');
    scene.git('commit', '-q', '-m', 'by a person');
    const stale = await scene.pulse(['verify', id, '--json']);
    expect(stale.code).toBe(1);
    expect(stale.json[0]).toMatchObject({ verdict: 'stale' });
  });
});

describe('for agents', () => {
  it('pulse signal reads a message by the rules', async () => {
    const { code, json } = await scene.pulse(['signal'], { stdin: 'Done.\n\n<signal>COMPLETE</signal>\n' });
    expect(code).toBe(0);
    expect(json[0]).toEqual({
      signal: 'COMPLETE',
      reason: null,
      source: 'explicit',
      rule: 'explicit:tag-alone',
      anchorHint: null,
      mentions: [],
      conflict: [],
    });
  });

  it('pulse tool calls a tool of its run', async () => {
    const command = scene.agent(
      `pulse tool pulse_signal '{"signal":"COMPLETE"}' > reply.json; echo '{"costUsd":0.25,"inputTokens":7}' | pulse tool report_usage -; pulse tool nope > refused.json; echo $? >> refused.json; echo "No tag here."`,
    );
    const { code, json } = await scene.pulse(['start', 'Use tools', '--command', command, '--json']);
    expect(code).toBe(0);
    const { session } = json.at(-1) as unknown as { session: { branch_name: string; spent_usd: number } };
    expect(session.spent_usd).toBe(0.25);
    expect(JSON.parse(scene.git('show', `${session.branch_name}:reply.json`))).toMatchObject({
      ok: true,
      reasons: [],
    });
    expect(scene.git('show', `${session.branch_name}:refused.json`)).toMatch(/"ok":false[\s\S]*\n1$/);
  });
});

describe('setting up', () => {
  it('pulse init finds the checks, writes a config once and keeps git status clean of scratch', async () => {
    writeFileSync(
      join(scene.repository, 'package.json'),
      JSON.stringify({ scripts: { test: 'node --test', lint: 'biome' } }),
    );
    const { code, stdout, stderr } = await scene.pulse(['init']);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('.pulse/config.yaml');
    const path = join(scene.repository, '.pulse/config.yaml');
    expect(readFileSync(path, 'utf8')).toContain('verify:\n  - "npm run lint"\n  - "npm test"\n');
    mkdirSync(join(scene.repository, '.context'));
    writeFileSync(join(scene.repository, '.context/x'), '');
    expect(scene.git('status', '--porcelain', '-uall')).not.toContain('.context');
    const again = await scene.pulse(['init']);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('--force');
    expect((await scene.pulse(['init', '--force'])).code).toBe(0);
    const config = await scene.pulse(['config', 'verify', '--json']);
    expect(config.json[0]).toEqual({
      settings: { verify: { value: ['npm run lint', 'npm test'], source: path } },
    });
  });

  it('pulse doctor looks at everything and is content here', async () => {
    const { code, stdout } = await scene.pulse(['doctor', '--gc']);
    for (const subject of [
      'Node.js',
      'git',
      'SQLite',
      'state',
      'disk',
      'sessions',
      'agent',
      'clean-up',
      'sockets',
      'gc',
    ]) {
      expect(stdout).toContain(subject);
    }
    expect(code).toBe(0);
  });

  it('pulse doctor has a line for every agent, with the versions that are tested', async () => {
    const bin = join(scene.directory, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'codex'), '#!/bin/sh\necho codex-cli 0.1.0\n', { mode: 0o755 });
    const { stdout } = await scene.pulse(['doctor'], { env: { PATH: `${bin}:/usr/bin:/bin` } });
    expect(stdout).toMatch(
      /✓ agent +codex 0\.1\.0 \(.*\), tested with \d[\d.]+\n +Older than what is tested/,
    );
    for (const name of ['claude', 'gemini', 'opencode', 'pi', 'qwen', 'copilot'])
      expect(stdout).toMatch(new RegExp(`· agent +${name}, tested with \\d[\\d.]+\\. .*npm install -g \\S+`));
    expect(stdout).toMatch(/agent +acp/);
    expect(stdout).toMatch(/agent +native/);
  });

  it('keeps compiled code in a folder of the user, and in none that all can write to', async () => {
    const env = { HOME: undefined, XDG_CACHE_HOME: undefined, TMPDIR: scene.directory };
    expect((await scene.pulse(['help'], { env })).code).toBe(0);
    expect(existsSync(join(scene.directory, 'pulse'))).toBe(false);
    await scene.pulse(['help'], { env: { ...env, XDG_CACHE_HOME: join(scene.directory, 'cache') } });
    expect(existsSync(join(scene.directory, 'cache/pulse/compile-cache'))).toBe(true);
  });

  it('init and doctor say what a worktree will lack: a setup, a program', async () => {
    const manifest = { scripts: { test: 'xo' }, devDependencies: { xo: '1' } };
    writeFileSync(join(scene.repository, 'package.json'), JSON.stringify(manifest));
    const doctor = await scene.pulse(['doctor']);
    expect(doctor.stdout).toContain('no lockfile says how to install them');
    const { stderr } = await scene.pulse(['init']);
    expect(stderr).toContain('setup   npm install --no-package-lock');
    const config = await scene.pulse(['config', 'setup', '--json']);
    expect(config.json[0]).toMatchObject({
      settings: { setup: { value: ['npm install --no-package-lock'] } },
    });
    writeFileSync(join(scene.repository, 'pnpm-lock.yaml'), '');
    rmSync(join(scene.repository, '.pulse'), { recursive: true });
    const { stdout } = await scene.pulse(['doctor'], { env: { PATH: '/usr/bin:/bin' } });
    expect(stdout).not.toContain('no lockfile says');
    expect(stdout).toMatch(/project +pnpm is not on the PATH/);
    const again = await scene.pulse(['init'], { env: { PATH: '/usr/bin:/bin' } });
    expect(again.stderr).toMatch(/missing pnpm is not on the PATH, and .*pnpm.* needs it/);
  });

  it('init and doctor know what a lockfile of any language calls for, and how its tests are run', async () => {
    writeFileSync(join(scene.repository, 'pyproject.toml'), '[dependency-groups]\ntests = ["pytest"]\n');
    writeFileSync(join(scene.repository, 'uv.lock'), '');
    const env = { PATH: '/usr/bin:/bin' };
    const { stderr, stdout } = await scene.pulse(['init'], { env });
    expect(stderr, stdout).toContain('setup   uv sync --frozen  (by the lockfile)');
    expect(stderr).toContain('verify  uv run --frozen pytest');
    expect(stderr).toContain('missing uv is not on the PATH, and uv sync --frozen needs it');
    const doctor = await scene.pulse(['doctor'], { env });
    expect(doctor.stdout).toMatch(/! project +uv is not on the PATH\n +uv sync --frozen needs it/);
    expect(doctor.stdout).not.toContain('the programs of its checks and its setup are there');
    // What the config says holds; the lockfile is not asked then.
    writeFileSync(join(scene.repository, '.pulse/config.yaml'), 'setup: ["true"]\nverify: ["true"]\n');
    expect((await scene.pulse(['doctor'], { env })).stdout).toContain(
      'the programs of its checks and its setup are there',
    );
  });

  it('pulse doctor exits 1 when something is bad', async () => {
    mkdirSync(scene.home);
    writeFileSync(
      join(scene.home, 'pulse.db'),
      'not a database, for sure, this is only some text\n'.repeat(50),
    );
    const { code, stdout } = await scene.pulse(['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ sessions');
  });
});

describe('pulse demo', () => {
  it('shows a whole session in a folder of its own', async () => {
    const { code, stdout, stderr } = await scene.pulse(['demo'], { env: { TMPDIR: scene.directory } });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('COMPLETE rejected');
    expect(stderr).toContain('Answering as you would');
    expect(stdout).toContain('✓ complete  verified by node --test');
    expect(stdout).not.toContain('npx');
    expect(readFileSync(/\S+evidence\.md/.exec(stdout)![0], 'utf8')).toContain(
      'rejected by the verification',
    );
  }, 60_000);
});
