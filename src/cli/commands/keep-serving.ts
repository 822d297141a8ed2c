import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import { resolveHome } from '../../home.ts';
import { findExecutable } from '../../process/executable.ts';
import { runProcess } from '../../process/run.ts';
import { sanitizeForTerminal } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { launchdAgent, type Service, type ServiceParts, serviceFor, systemdUnit } from '../unit-file.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, environment } = context;
  const home = environment.HOME || homedir();
  const service = serviceFor(process.platform, { ...environment, HOME: home });
  return input.argument('ACTION') === 'install'
    ? await install(context, { service, home })
    : await remove(context, service);
}

interface Place {
  service: Service;
  home: string;
}

async function install(context: CommandContext, { service, home }: Place): Promise<number> {
  const { input, output } = context;
  const { kind, path, name } = service;
  const parts = partsOf(context, home);
  const content = kind === 'systemd' ? systemdUnit(parts) : launchdAgent(parts, name);
  const before = await readFile(path, 'utf8').catch(() => null);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: 0o600 });
  await chmod(path, 0o600);
  const did = before === content ? 'unchanged' : before === null ? 'written' : 'replaced';
  if (!output.isJson) output.data(`${did}: ${sanitizeForTerminal(path)}`);
  const steps = startSteps(service);
  const isStarted = !input.has('no-start') && (await perform(context, steps));
  if (output.isJson) output.json({ service: name, kind, path, did, isStarted });
  else if (isStarted) output.data(`started: pulse serve --adopt, now and after every start of this machine`);
  if (!isStarted) for (const step of steps) output.talk(`to start it: ${step.join(' ')}`);
  if (kind === 'systemd') {
    output.talk(`so that it also runs while you are not logged in: loginctl enable-linger ${userName()}`);
    output.talk('what it says: journalctl --user -u pulse.service -f');
  }
  output.talk(`keys of your agents, if they are in variables: NAME=value lines in ${parts.environmentFile}`);
  return 0;
}

async function remove(context: CommandContext, service: Service): Promise<number> {
  const { input, output } = context;
  const { kind, path, name } = service;
  if ((await readFile(path, 'utf8').catch(() => null)) === null) {
    throw new PulseError('not_found', `There is no service at ${path}.`, { hint: 'pulse service install' });
  }
  const steps = stopSteps(service);
  const isStopped = !input.has('no-start') && (await perform(context, steps));
  await rm(path, { force: true });
  if (kind === 'systemd' && isStopped) await perform(context, [['systemctl', '--user', 'daemon-reload']]);
  if (output.isJson) output.json({ service: name, kind, path, did: 'removed', isStopped });
  else output.data(`removed: ${sanitizeForTerminal(path)}`);
  if (!isStopped) for (const step of steps) output.talk(`to stop it: ${step.join(' ')}`);
  output.talk('Its sessions stay running for the next `pulse serve`.');
  return 0;
}

/** What it needs of the environment of now; no secret is written. */
function partsOf({ environment, input, program }: CommandContext, home: string): ServiceParts {
  const port = input.number('port');
  const set: Record<string, string> = {};
  for (const name of ['PATH', 'PULSE_HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'LANG'] as const)
    if (environment[name]) set[name] = environment[name];
  const config = environment.XDG_CONFIG_HOME || join(home, '.config');
  return {
    command: [
      process.execPath,
      program,
      'serve',
      '--adopt',
      ...(port === undefined ? [] : ['--port', String(port)]),
    ],
    environment: set,
    environmentFile: join(config, 'pulse', 'service.env'),
    log: join(resolveHome(environment).path, 'serve.log'),
  };
}

function startSteps({ kind, name, path }: Service): string[][] {
  if (kind === 'launchd') return [['launchctl', 'bootstrap', `gui/${process.getuid?.() ?? 0}`, path]];
  return [
    ['systemctl', '--user', 'daemon-reload'],
    ['systemctl', '--user', 'enable', '--now', name],
  ];
}

function stopSteps({ kind, name }: Service): string[][] {
  if (kind === 'launchd') return [['launchctl', 'bootout', `gui/${process.getuid?.() ?? 0}/${name}`]];
  return [['systemctl', '--user', 'disable', '--now', name]];
}

/** `false`: one of them is not there, or said no; then the person is told all of them. */
async function perform({ environment, cwd, output }: CommandContext, steps: string[][]): Promise<boolean> {
  for (const [file = '', ...args] of steps) {
    const found = findExecutable({ file, cwd, path: environment.PATH });
    if (typeof found !== 'string') return false;
    const env = Object.fromEntries(
      Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const { code, stderr } = await runProcess({
      runId: null,
      file: found,
      args,
      cwd,
      env,
      timeoutMs: 30_000,
    });
    if (code === 0) continue;
    output.talk(
      sanitizeForTerminal(`${file} ${args.join(' ')}: ${stderr.trim().slice(-300) || `exit ${code}`}`),
    );
    return false;
  }
  return true;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '$USER'; // a user id without an entry
  }
}
