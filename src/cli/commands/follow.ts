import { goOnWithNotes } from '../../loops/goal/cli/run.ts';
import { follow } from '../../operations/after/definitions.ts';
import type { CommandContext } from '../command-spec.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';
import { askingForTrust } from '../trusting.ts';

export async function run(context: CommandContext): Promise<number> {
  await using pulse = await openPulse(context);
  const { sessionId, ...asked } = await readInput(follow, context, {});
  const { id, project_path: path } = await pulse.session(sessionId);
  const started = await askingForTrust(context, path, () => pulse.followUp(id, asked));
  return await goOnWithNotes(pulse, context, started);
}
