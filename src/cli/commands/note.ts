import { createPulse } from '../../pulse.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';
import { launchRunner } from '../session-runner.ts';
import { askingForTrust } from '../trusting.ts';

/** Tells a session something without stopping it. As an answer it makes the session go on, by itself. */
export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment } = context;
  await using pulse = await createPulse({ environment, onWait: output.talk });
  const { session: before } = await pulse.get(input.argument('ID')!);
  const isAnswer = input.has('answer');
  const said = { text: input.argument('TEXT')!, isAnswer, actor: actor() };
  const { session, next } = await askingForTrust(context, before.project_path, () =>
    pulse.note(before.id, said),
  );
  if (next === 'run') await launchRunner(pulse, session, context);
  if (output.isJson) output.json({ session });
  else if (next === 'run') output.data(`${session.id} goes on with the answer.`);
  else if (session.status === 'running') output.data(`${session.id} is told with its next brief, or sooner.`);
  else output.data(`${session.id} is told when it goes on: pulse resume ${session.id}`);
  return 0;
}
