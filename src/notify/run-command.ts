import { randomUUID } from 'node:crypto';
import { agentEnvironment } from '../process/environment.ts';
import { runProcess } from '../process/run.ts';
import type { RunCommand } from './channels/command.ts';

const TIMEOUT_MS = 60_000;

/** Runs `notify.command` as a person's own program, with the environment that checks get. */
export function createCommandRunner({
  environment,
  cwd,
}: {
  environment: NodeJS.ProcessEnv;
  cwd: string;
}): RunCommand {
  return async (command, { input, signal }) => {
    const { code, stdout, stderr } = await runProcess({
      runId: `notify.${randomUUID()}`,
      file: '/bin/sh',
      args: ['-c', command],
      cwd,
      env: agentEnvironment({ base: environment, own: [], pass: [], add: {} }),
      stdin: input,
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    return { code: code ?? 128, output: `${stdout}${stderr}` };
  };
}
