import type { Changed } from '../../operations/operation.ts';
import type { Pulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';
import { launchRunner } from '../session-runner.ts';
import { detached, followSession } from './follow.ts';

/** Gives the session the runner it needs, and follows it unless `--detach` was given. Resolves to the exit code. */
export async function goOn(
  pulse: Pulse,
  context: CommandContext,
  { session, next, after }: Changed & { after?: number },
): Promise<number> {
  const { input, output, cwd } = context;
  const launch = async (): Promise<void> => {
    if (next === 'run') await launchRunner(pulse, session, context);
  };
  if (!input.has('detach')) return followSession({ pulse, session, output, cwd, after, launch });
  await launch();
  if (!output.isJson) output.data(session.id);
  return detached({ output }, session);
}
