import { homedir } from 'node:os';
import { agentEnvironment } from '../process/environment.ts';
import { runProcess } from '../process/run.ts';
import type { Programs } from './channels/all.ts';
import { MOST_SENDING_MS } from './channels/channel.ts';

/** What reaches a desktop, beside the environment that checks get. */
const DESKTOP = ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY'];

/**
 * Runs `notify.command` as a person's own program, with the environment that checks get. Always in the home folder: any
 * process may deliver the message, and a command such as `./tell.sh` must not depend on where that one was started.
 */
export function createPrograms(environment: NodeJS.ProcessEnv): Programs {
  const run = async (
    call: { file: string; args: readonly string[]; own: readonly string[]; stdin: string },
    signal: AbortSignal,
  ): Promise<{ code: number; output: string }> => {
    const { file, args, own, stdin } = call;
    const { code, stdout, stderr } = await runProcess({
      // A run's end also ends orphans in its directory; here these are the person's own processes.
      runId: null,
      ...{ file, args: [...args], stdin, signal, timeoutMs: MOST_SENDING_MS },
      cwd: environment.HOME || homedir(),
      env: agentEnvironment({ base: environment, own, pass: [], add: {} }),
    });
    return { code: code ?? 128, output: `${stdout}${stderr}` };
  };
  return {
    runCommand: (command, { input, signal }) =>
      run({ file: '/bin/sh', args: ['-c', command], own: [], stdin: input }, signal),
    runProgram: (file, args, signal) => run({ file, args, own: DESKTOP, stdin: '' }, signal),
    platform: process.platform,
  };
}
