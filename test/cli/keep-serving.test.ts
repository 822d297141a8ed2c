/** `pulse service`: the programs of systemd and launchd stand on the PATH as scripts that write down what they are asked. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BY_ITSELF_COMMANDS } from '../../src/cli/by-itself-commands.ts';
import type { CommandContext } from '../../src/cli/command-spec.ts';
import { keepServing } from '../../src/cli/commands/keep-serving.ts';
import type { Output } from '../../src/cli/output.ts';
import { parseCommand } from '../../src/cli/parser.ts';

const URL = 'postgres://ada:s3cret%21@db.example:5432/pulse?sslmode=require';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pulse-service-'));
  mkdirSync(join(folder, 'bin'));
  for (const name of ['systemctl', 'loginctl', 'launchctl']) program(name, '');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes its words down, then does what the script says. */
function program(name: string, script: string): void {
  const text = `#!/bin/sh\necho "${name} $*" >> '${folder}/asked'\n${script}\n`;
  writeFileSync(join(folder, 'bin', name), text, { mode: 0o755 });
}

interface Told {
  code: number;
  said: string;
  /** What the programs were asked, in order. */
  asked: string[];
}

async function service(
  words: string[],
  { platform = 'linux', env = {} }: { platform?: NodeJS.Platform; env?: Record<string, string> } = {},
): Promise<Told> {
  let said = '';
  const write = (text: string): void => {
    said += `${text}\n`;
  };
  const output = { isJson: false, data: write, talk: write } as Partial<Output> as Output;
  const context: CommandContext = {
    input: parseCommand(['service', ...words], BY_ITSELF_COMMANDS).input,
    output,
    environment: {
      ...{ HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), PATH: `${folder}/bin:/usr/bin:/bin` },
      ...env,
    },
    cwd: folder,
    program: '/opt/pulse/bin/pulse.js',
  };
  rmSync(join(folder, 'asked'), { force: true });
  const code = await keepServing(context, platform);
  const asked = existsSync(join(folder, 'asked')) ? read('asked').trim().split('\n') : [];
  return { code, said, asked };
}

const read = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8');
const mode = (...path: string[]): number => statSync(join(folder, ...path)).mode & 0o777;

describe('the service on Linux', () => {
  it('is written, enabled and started; what has changed is started again, what has not is left running', async () => {
    const first = await service(['install']);
    expect(first.code).toBe(0);
    expect(first.asked.slice(0, 3)).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable pulse.service',
      'systemctl --user restart pulse.service',
    ]);
    expect(mode('config/systemd/user/pulse.service')).toBe(0o600);
    const again = await service(['install']);
    expect(again.said).toContain('unchanged: ');
    expect(again.asked).toContain('systemctl --user enable --now pulse.service');
    const changed = await service(['install', '--port', '4000'], {
      env: { PULSE_AGENT_CLAUDE_BIN: '/opt/claude' },
    });
    expect(changed.said).toContain('replaced: ');
    expect(changed.asked).toContain('systemctl --user restart pulse.service');
    const unit = read('config/systemd/user/pulse.service');
    expect(unit).toContain('"--port" "4000"');
    expect(unit).toContain('Environment="PULSE_AGENT_CLAUDE_BIN=/opt/claude"');
    const removed = await service(['remove']);
    expect(removed.asked).toEqual([
      'systemctl --user disable --now pulse.service',
      'systemctl --user daemon-reload',
    ]);
    await expect(service(['remove'])).rejects.toMatchObject({ code: 'not_found' });
  });

  it('has the store of this shell, by a file for the person’s eyes alone', async () => {
    const env = { PULSE_DATABASE_URL: URL };
    mkdirSync(join(folder, 'config/pulse'), { recursive: true });
    writeFileSync(join(folder, 'config/pulse/service.env'), 'ANTHROPIC_API_KEY=x', { mode: 0o644 });
    const { said } = await service(['install'], { env });
    expect(said).toContain(`PULSE_DATABASE_URL is set here. The service needs it, so it goes into ${folder}`);
    expect(said).not.toContain('s3cret');
    expect(read('config/pulse/service.env')).toBe(`ANTHROPIC_API_KEY=x\nPULSE_DATABASE_URL=${URL}\n`);
    expect(mode('config/pulse/service.env')).toBe(0o600);
    expect(read('config/systemd/user/pulse.service')).not.toContain('s3cret');
    expect((await service(['install'], { env })).said).not.toContain('PULSE_DATABASE_URL');
    const other = await service(['install'], { env: { PULSE_DATABASE_URL: 'postgres://other/pulse' } });
    expect(other.said).toContain('which is another than the one here');
    expect(read('config/pulse/service.env')).not.toContain('other');
  });

  it('is not installed with a store or a port that it could not use; nothing is written then', async () => {
    const odd = service(['install'], { env: { PULSE_DATABASE_URL: 'postgres://a b"\\/c' } });
    await expect(odd).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('service.env'),
    });
    await expect(service(['install', '--port', '99999'])).rejects.toMatchObject({
      code: 'usage',
      message: '--port must be below 65536, not 99999.',
    });
    expect(existsSync(join(folder, 'config'))).toBe(false);
    expect(existsSync(join(folder, 'asked'))).toBe(false);
  });

  it('says how it runs while nobody is logged in, unless it does', async () => {
    program('loginctl', 'echo no');
    expect((await service(['install'])).said).toMatch(/loginctl enable-linger \S+\n/);
    program('loginctl', 'echo yes');
    expect((await service(['install'])).said).not.toContain('enable-linger');
    program('loginctl', 'echo "not logged in" >&2; exit 1');
    expect((await service(['install'])).said).toContain('enable-linger');
  });

  it('names what is to be run by hand where systemctl says no', async () => {
    program('systemctl', 'echo "no bus" >&2; exit 1');
    const { code, said } = await service(['install']);
    expect(code).toBe(0);
    expect(said).toContain('systemctl --user daemon-reload: no bus');
    expect(said).toContain('to start it: systemctl --user restart pulse.service');
    expect(said).not.toContain('started: ');
  });
});

describe('the service on macOS', () => {
  const platform = 'darwin';
  const domain = `gui/${process.getuid!()}`;

  it('is loaded anew where it was loaded: the old one is out before the new one is in', async () => {
    // Once it is out it is gone, and what is loaded cannot be loaded once more.
    program(
      'launchctl',
      `cd '${folder}'; case $1 in
  bootout) [ -e loaded ] || exit 3; touch going ;;
  print) [ -e loaded ] || exit 113; if [ -e going ]; then rm going loaded; fi ;;
  bootstrap) [ -e loaded ] && { echo "5: Input/output error" >&2; exit 5; }; touch loaded ;;
esac`,
    );
    for (const port of ['4000', '4001']) {
      const { said, asked } = await service(['install', '--port', port], { platform });
      expect(said).toContain('started: ');
      expect(asked[0]).toBe(`launchctl bootout ${domain}/dev.pulse.serve`);
      const path = join(folder, 'Library/LaunchAgents/dev.pulse.serve.plist');
      expect(asked.at(-1)).toBe(`launchctl bootstrap ${domain} ${path}`);
    }
    expect((await service(['remove'], { platform })).asked).toEqual([
      `launchctl bootout ${domain}/dev.pulse.serve`,
    ]);
  });

  it('has the variables of the file, as systemd reads them', async () => {
    await service(['install', '--no-start'], { platform, env: { PULSE_DATABASE_URL: URL } });
    const file = join(folder, 'config/pulse/service.env');
    writeFileSync(file, `# keys\n${read('config/pulse/service.env')}A="b c"\nBAD NAME=1\nno\nLAST='x'`);
    const plist = read('Library/LaunchAgents/dev.pulse.serve.plist');
    const words = [...plist.matchAll(/^ {4}<string>([\s\S]*?)<\/string>$/gm)].map(([, word = '']) =>
      word.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    );
    expect(words.slice(4, 7)).toEqual([file, process.execPath, '/opt/pulse/bin/pulse.js']);
    const [shell = '', ...args] = words.slice(0, 5);
    const env = execFileSync(shell, [...args, '/usr/bin/env'], { encoding: 'utf8', env: {} }).split('\n');
    expect(env).toEqual(expect.arrayContaining([`PULSE_DATABASE_URL=${URL}`, 'A=b c', 'LAST=x']));
    expect(env.filter((line) => /BAD|^no|keys/.test(line))).toEqual([]);
  });
});
