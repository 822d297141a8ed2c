import { constants } from 'node:os';
import { isLoopback } from '../../api/guard.ts';
import { loadPage } from '../../api/page/page-source.ts';
import { serve } from '../../api/serve.ts';
import { takeServeLock } from '../../api/serve-lock.ts';
import { readToken } from '../../api/state-file.ts';
import { loadConfig } from '../../config.ts';
import { isPulseError, PulseError } from '../../domain/errors.ts';
import type { NotifySettings } from '../../domain/notify.ts';
import { redact } from '../../domain/redact.ts';
import { openRepository } from '../../git/repository.ts';
import { type Home, resolveHome } from '../../home.ts';
import { createPulse } from '../../pulse.ts';
import { loadTrustedConfig } from '../../trust.ts';
import type { CommandContext } from '../command-spec.ts';
import { loginLink } from '../login-link.ts';
import { createCliGit } from '../repository-here.ts';
import { findOrphans } from '../session-runner.ts';

const HOST = '127.0.0.1';
const PORT = 3002;
/** Agents are ended within 10 s; what still hangs after this is left to the next start. */
const STOP_WITHIN_MS = 12_000;

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Runs until it is asked to stop; its sessions stay running, and the next start continues them. */
export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment, pulse: more } = context;
  const host = input.text('host') ?? HOST;
  const port = input.number('port') ?? PORT;
  if (port > 65_535) throw new PulseError('usage', `--port must be below 65536, not ${port}.`);
  const say = (text: string): void => output.talk(redact(`${new Date().toISOString()} ${text}`));
  const told = listenForStop();
  surviveFailures(say);

  const home = resolveHome(environment);
  using lock = await takeServeLock(home.serveLock);
  await readToken(home);
  await using pulse = await createPulse({ ...more, environment, onWait: output.talk });
  const { values } = await loadConfig(null, environment);
  const orphans = input.has('adopt') ? await findOrphans(pulse) : [];
  await using server = await serve({
    pulse,
    host,
    port,
    reads: values.reads,
    notify: (await notifyHere(context, { home, say })) ?? values.notify,
    adopt: orphans.map(({ id }) => id),
    writeReport: async (format, content) =>
      (await import('../report-text.ts')).reportText(format, content, { pulse, environment }),
    loadPage: (signal) => loadPage({ folder: home.page, environment, signal }),
    say,
  });
  lock.update(server.url);
  if (output.isJson) output.json({ type: 'serve.listening', url: server.url, adopted: server.adopted });
  output.talk(`Pulse listens on ${server.url}`);
  output.talk(`The token is in ${pulse.home.token}`);
  output.talk(`  curl -H "Authorization: Bearer $(cat ${pulse.home.token})" ${server.url}/api/pulse`);
  output.talk(
    `Open ${await loginLink(pulse, server.url)} (once, within 10 minutes; \`pulse open\` prints another)`,
  );
  if (!isLoopback(host)) output.talk('It can be reached from other machines: every request needs the token.');
  for (const id of server.adopted) say(`${id}: continues`);

  const signal = await told;
  say(`${signal}: stopping; sessions stay running and go on at the next start`);
  const exitCode = 128 + constants.signals[signal];
  setTimeout(() => process.exit(exitCode), STOP_WITHIN_MS).unref();
  return exitCode;
}

/** Started in a repository, it also hears whom that repository's config allows, once that is trusted. */
async function notifyHere(
  { cwd, environment }: CommandContext,
  { home, say }: { home: Home; say(text: string): void },
): Promise<NotifySettings | undefined> {
  const project = await openRepository(createCliGit(environment), cwd).catch(() => null);
  if (project === null) return undefined;
  try {
    return (await loadTrustedConfig({ home, environment, project })).values.notify;
  } catch (error) {
    if (!isPulseError(error)) throw error;
    say(`the config of this repository is not used: ${error.message}`);
    return undefined;
  }
}

/** The first signal asks; a second does not wait. */
function listenForStop(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (isAsked) process.exit(128 + constants.signals[signal]);
        isAsked = true;
        resolve(signal);
      });
    }
  });
}

/** One session's failure is not the others': it is said, and its runner is started again. A closed terminal is none. */
function surviveFailures(say: (text: string) => void): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => undefined);
  }
  const tell = (error: unknown): void =>
    say(`unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  process.on('unhandledRejection', tell);
  process.on('uncaughtException', tell);
}
