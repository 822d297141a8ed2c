import { homedir } from 'node:os';
import { agentEnvironment } from '../process/environment.ts';
import { runProcess } from '../process/run.ts';
import { MOST_SENDING_MS } from './channels/channel.ts';
import type { RunCommand } from './channels/command.ts';

/**
 * Runs `notify.command` as a person's own program, with the environment that checks get. Always in the home folder: any
 * process may deliver the message, and a command such as `./tell.sh` must not depend on where that one was started.
 */
export function createCommandRunner(environment: NodeJS.ProcessEnv): RunCommand {
  return async (command, { input, signal }) => {
    const { code, stdout, stderr } = await runProcess({
      // A run's end also ends orphans in its directory; here these are the person's own processes.
      runId: null,
      file: '/bin/sh',
      args: ['-c', command],
      cwd: environment.HOME || homedir(),
      env: agentEnvironment({ base: environment, own: [], pass: [], add: {} }),
      stdin: input,
      timeoutMs: MOST_SENDING_MS,
      signal,
    });
    return { code: code ?? 128, output: `${stdout}${stderr}` };
  };
}
