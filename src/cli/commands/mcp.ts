import { Console } from 'node:console';
import { userInfo } from 'node:os';
import { serveStdio } from '../../mcp/stdio.ts';
import { createPulse, type Pulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';
import { launchRunner } from '../session-runner.ts';

/** stdout belongs to the protocol alone. The store is opened by the first call, so that a fault there is told in it. */
export async function run(context: CommandContext): Promise<number> {
  const { output, environment } = context;
  globalThis.console = new Console(process.stderr);
  const stop = new AbortController();
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    process.once(signal, () => stop.abort(code));
  }
  let opened: Promise<Pulse> | null = null;
  const open = (): Promise<Pulse> => {
    opened ??= createPulse({ ...context.pulse, environment, onWait: output.talk }).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  try {
    await serveStdio({
      caller: {
        pulse: open,
        runSession: async (session) => launchRunner(await open(), session, context),
        actor: `mcp:${userName()}`,
        isTrusted: true,
        isInsideRun: environment.PULSE_RUN_ID !== undefined,
      },
      stdin: process.stdin,
      stdout: process.stdout,
      talk: output.talk,
      signal: stop.signal,
    });
  } finally {
    const pulse = await (opened as Promise<Pulse> | null)?.catch(() => null);
    await pulse?.[Symbol.asyncDispose]();
  }
  return stop.signal.aborted ? (stop.signal.reason as number) : 0;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // a user id without an entry, as in some containers
  }
}
