import type { Changed } from '../../operations/operation.ts';
import type { Pulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';
import { launchRunner } from '../session-runner.ts';
import { askingForTrust } from '../trusting.ts';
import { askAnswer, canAnswer } from './ask-answer.ts';
import { detached, followSession } from './follow.ts';
import { lastEvent } from './last-event.ts';

/** Asks the person who is there, and continues with what they say; `null`: nothing was asked, or nothing said. */
export async function answerHere(pulse: Pulse, context: CommandContext, id: string): Promise<number | null> {
  const { output } = context;
  const session = await pulse.session(id);
  if (!canAnswer(session, output)) return null;
  const answer = await askAnswer(output);
  if (answer === null) return null;
  const after = await lastEvent(pulse, id);
  const resumed = await askingForTrust(context, session.project_path, () => pulse.resume(id, { answer }));
  return goOn(pulse, context, { ...resumed, after });
}

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
  if (!input.has('detach')) {
    const exitCode = await followSession({ pulse, session, output, cwd, after, launch });
    return (await answerHere(pulse, context, session.id)) ?? exitCode;
  }
  await launch();
  if (!output.isJson) output.data(session.id);
  return detached({ output }, session);
}
