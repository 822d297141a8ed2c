import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PulseError } from '../../domain/errors.ts';
import { resolveHome } from '../../home.ts';
import { findExecutable } from '../../process/executable.ts';
import { type RunResult, runProcess } from '../../process/run.ts';
import { sanitizeForTerminal } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { launchdAgent, type Service, type ServiceParts, serviceFor, systemdUnit } from '../unit-file.ts';
import { addUnitVariable, assertPlain, DATABASE, readUnitVariable } from '../unit-variables.ts';

export function run(context: CommandContext): Promise<number> {
  return keepServing(context, process.platform);
}

export async function keepServing(context: CommandContext, platform: NodeJS.Platform): Promise<number> {
  const { input, environment } = context;
  const home = environment.HOME || homedir();
  const service = serviceFor(platform, { ...environment, HOME: home });
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
  const isNewDatabase = await passDatabase(context, parts.environmentFile);
  const before = await readFile(path, 'utf8').catch(() => null);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: 0o600 });
  await chmod(path, 0o600);
  const did = before === content ? 'unchanged' : before === null ? 'written' : 'replaced';
  if (!output.isJson) output.data(`${did}: ${sanitizeForTerminal(path)}`);
  const steps = startSteps(service, { isSame: did === 'unchanged' && !isNewDatabase });
  const isStarted = !input.has('no-start') && (await perform(context, steps));
  if (output.isJson) output.json({ service: name, kind, path, did, isStarted });
  else if (isStarted) output.data(`started: pulse serve --adopt, now and after every start of this machine`);
  if (!isStarted) for (const { words } of steps) output.talk(`to start it: ${words.join(' ')}`);
  if (kind === 'systemd') {
    if (!(await lingers(context)))
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
  if (kind === 'systemd' && isStopped) await perform(context, [step('systemctl', '--user', 'daemon-reload')]);
  if (output.isJson) output.json({ service: name, kind, path, did: 'removed', isStopped });
  else output.data(`removed: ${sanitizeForTerminal(path)}`);
  if (!isStopped) for (const { words } of steps) output.talk(`to stop it: ${words.join(' ')}`);
  output.talk('Its sessions stay running for the next `pulse serve`.');
  return 0;
}

/** Where agents are that are not on the PATH. */
const AGENT_PLACE = /^PULSE_AGENT_[A-Z]+_BIN$/;

/** What it needs of the environment of now; no secret is written into the unit. */
function partsOf({ environment, input, program }: CommandContext, home: string): ServiceParts {
  const port = input.number('port');
  if (port !== undefined && port > 65_535)
    throw new PulseError('usage', `--port must be below 65536, not ${port}.`);
  const set: Record<string, string> = {};
  const wanted = ['PATH', 'PULSE_HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'LANG'];
  for (const name of [...wanted, ...Object.keys(environment).filter((each) => AGENT_PLACE.test(each))])
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

/** Without it the service would open a store of its own, and continue nothing. `true`: it has it from now on. */
async function passDatabase({ environment, output }: CommandContext, file: string): Promise<boolean> {
  const { [DATABASE]: url } = environment;
  if (!url) return false;
  const known = await readUnitVariable(file, DATABASE);
  if (known === url) return false;
  if (known !== null) {
    output.talk(`note: the service uses the ${DATABASE} of ${file}, which is another than the one here.`);
    return false;
  }
  assertPlain(file, DATABASE, url);
  output.talk(`${DATABASE} is set here. The service needs it, so it goes into ${file}, for your eyes alone.`);
  await addUnitVariable(file, DATABASE, url);
  return true;
}

interface Step {
  words: readonly string[];
  /** Nothing is lost where it says no. */
  mayFail?: boolean;
  /** The next step must wait until this one is gone; it is asked whether it is there. */
  until?: readonly string[];
}

function step(...words: string[]): Step {
  return { words };
}

/** One that runs already is started again, unless all is as it was: else it would keep its old command. */
function startSteps({ kind, name, path }: Service, { isSame }: { isSame: boolean }): Step[] {
  if (kind === 'systemd') {
    const start = isSame
      ? [step('systemctl', '--user', 'enable', '--now', name)]
      : [step('systemctl', '--user', 'enable', name), step('systemctl', '--user', 'restart', name)];
    return [step('systemctl', '--user', 'daemon-reload'), ...start];
  }
  const domain = `gui/${process.getuid?.() ?? 0}`;
  // What is loaded already cannot be loaded once more.
  const out = {
    words: ['launchctl', 'bootout', `${domain}/${name}`],
    mayFail: true,
    until: ['launchctl', 'print', `${domain}/${name}`],
  };
  return [out, step('launchctl', 'bootstrap', domain, path)];
}

function stopSteps({ kind, name }: Service): Step[] {
  if (kind === 'launchd') return [step('launchctl', 'bootout', `gui/${process.getuid?.() ?? 0}/${name}`)];
  return [step('systemctl', '--user', 'disable', '--now', name)];
}

const GONE_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 250;

/** `false`: one of them is not there, or said no; then the person is told all of them. */
async function perform(context: CommandContext, steps: readonly Step[]): Promise<boolean> {
  for (const { words, mayFail = false, until } of steps) {
    const ended = await call(context, words);
    if (ended === null) return false;
    // It gives its sessions back before it goes.
    const giveUpAt = Date.now() + GONE_WITHIN_MS;
    while (until && (await call(context, until))?.code === 0 && Date.now() < giveUpAt)
      await delay(LOOK_EVERY_MS);
    if (ended.code === 0 || mayFail) continue;
    const why = ended.stderr.trim().slice(-300) || `exit ${ended.code}`;
    context.output.talk(sanitizeForTerminal(`${words.join(' ')}: ${why}`));
    return false;
  }
  return true;
}

/** `null`: there is no such program. */
async function call(
  { environment, cwd }: CommandContext,
  words: readonly string[],
): Promise<RunResult | null> {
  const [file = '', ...args] = words;
  const found = findExecutable({ file, cwd, path: environment.PATH });
  if (typeof found !== 'string') return null;
  const env = Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return runProcess({ runId: null, file: found, args, cwd, env, timeoutMs: 30_000 });
}

/** Whether the service runs while the person is not logged in. One that cannot be asked says no. */
async function lingers(context: CommandContext): Promise<boolean> {
  const ask = ['loginctl', 'show-user', userName(), '--property=Linger', '--value'];
  const ended = await call(context, ask);
  return ended?.code === 0 && ended.stdout.trim() === 'yes';
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '$USER'; // a user id without an entry
  }
}
