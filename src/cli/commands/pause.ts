import { pause } from '../../operations/session/definitions.ts';
import type { CommandContext } from '../command-spec.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';

export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  await using pulse = await openPulse(context);
  const { sessionId, now } = await readInput(pause, context, {});
  const { session } = await pulse.pause(sessionId, { now });
  if (output.isJson) output.json({ session });
  else if (session.status === 'paused') output.data(`${session.id} is paused.`);
  else output.data(`${session.id} pauses ${now ? 'now' : 'after the current iteration'}.`);
  return 0;
}
