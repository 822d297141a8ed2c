import { createPulse } from '../../pulse.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';

export async function run({ input, output, environment }: CommandContext): Promise<number> {
  await using pulse = await createPulse({ environment, onWait: output.talk });
  const now = input.has('now');
  const session = await pulse.pause(input.argument('ID')!, { now, actor: actor() });
  if (output.isJson) output.json({ session });
  else if (session.status === 'paused') output.data(`${session.id} is paused.`);
  else output.data(`${session.id} pauses ${now ? 'now' : 'after the iteration in hand'}.`);
  return 0;
}
