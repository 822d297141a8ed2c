/** The package as people get it: packed, installed for the whole machine, and used under a home that is new. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_MORE } from '../lanes/lane.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NODE_FOLDER = join(ROOT, 'node_modules/node/bin');
const at = { folder: '', repository: '', prefix: '', home: '' };

/** Of the whole machine only where programs are: nothing of this checkout, and nobody's settings. */
const environment = () => ({
  HOME: at.home,
  PATH: `${join(at.prefix, 'bin')}:${NODE_FOLDER}:/usr/local/bin:/usr/bin:/bin`,
  TMPDIR: at.folder,
  LANG: 'C.UTF-8',
});

function pulse(...args: string[]): string {
  return execFileSync('pulse', args, {
    cwd: at.repository,
    env: environment(),
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

/** Only what git would publish, so that what lies around cannot help. */
function copyCheckout(to: string): void {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter(Boolean)) {
    if (file.startsWith('test/') || file.startsWith('bench/')) continue;
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(ROOT, file), join(to, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
}

describe.runIf(IS_MORE)('the installed package', () => {
  beforeAll(() => {
    at.folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-installed-')));
    for (const name of ['repository', 'prefix', 'home'] as const) {
      at[name] = join(at.folder, name);
      mkdirSync(at[name]);
    }
    const checkout = join(at.folder, 'checkout');
    copyCheckout(checkout);
    const npm = (cwd: string, ...args: string[]) =>
      execFileSync('npm', args, {
        cwd,
        env: { ...process.env, PATH: `${NODE_FOLDER}:${process.env.PATH}`, NODE_ENV: undefined },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    const [tarball] = npm(checkout, 'pack', '--silent', '--pack-destination', at.folder)
      .trim()
      .split('\n')
      .slice(-1);
    npm(
      at.folder,
      'install',
      '-g',
      '--prefix',
      at.prefix,
      '--prefer-offline',
      '--no-audit',
      join(at.folder, tarball!),
    );
    const git = (...args: string[]) => execFileSync('git', args, { cwd: at.repository, env: environment() });
    git('init', '-q', '-b', 'main');
    writeFileSync(join(at.repository, 'a.txt'), 'a\n');
    git('add', '-A');
    git('-c', 'user.name=T', '-c', 'user.email=t@t', 'commit', '-q', '-m', 'first');
  }, 600_000);
  afterAll(() => rmSync(at.folder, { recursive: true, force: true, maxRetries: 5 }));

  it('says its version, and what works here', () => {
    expect(pulse('--version').trim()).toMatch(/^\d+\.\d+\.\d+$/);
    expect(pulse('doctor')).toContain('✓ git');
  });

  it('plays the demo, and does not send people to a checkout', () => {
    const told = pulse('demo');
    expect(told).toContain('✓ complete  verified by node --test');
    expect(told).not.toContain('npm link');
  });

  it('runs a session, verified, to a merge', () => {
    const work = 'echo x > x.txt; echo "<signal>COMPLETE</signal>"';
    expect(pulse('start', 'Write x', '--command', work, '--verify', 'test -f x.txt')).toContain('✓ complete');
    pulse('merge', 'last');
    expect(
      execFileSync('git', ['log', '-1', '--format=%s'], { cwd: at.repository, encoding: 'utf8' }),
    ).toContain('pulse: iteration 1');
  });

  it('completes commands in a shell', () => {
    const script =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's, not ours
      'source <(pulse completion bash); COMP_WORDS=(pulse sta); COMP_CWORD=1; _pulse; printf "%s " "${COMPREPLY[@]}"';
    const words = execFileSync('bash', ['-c', script], {
      cwd: at.repository,
      env: environment(),
      encoding: 'utf8',
    });
    expect(words.trim().split(' ')).toEqual(expect.arrayContaining(['start', 'status']));
  });

  it('serves its page, without anything of development', async () => {
    const port = await freePort();
    const server = spawn('pulse', ['serve', '--port', String(port)], {
      cwd: at.repository,
      env: environment(),
    });
    const ended = new Promise((done) => server.once('exit', done));
    try {
      await new Promise<void>((resolve) => {
        const hear = (chunk: Buffer) => void (String(chunk).includes('token') && resolve());
        server.stderr.on('data', hear);
        server.stdout.on('data', hear);
      });
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      const page = await answer.text();
      expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
      const [script] = /\/assets\/[^"]+\.js/.exec(page) ?? [];
      expect((await fetch(`http://127.0.0.1:${port}${script}`)).status).toBe(200);
    } finally {
      server.kill('SIGTERM');
      await ended;
    }
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
