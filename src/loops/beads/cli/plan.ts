/** `pulse bead plan`: a session whose end is a file of beads. */
import { resolve } from 'node:path';
import type { CommandContext } from '../../../cli/command-spec.ts';
import { goOn } from '../../../cli/follow/go-on.ts';
import { openPulse } from '../../../cli/open-pulse.ts';
import { readInput } from '../../../cli/operation-command.ts';
import { askingForTrust } from '../../../cli/trusting.ts';
import { word } from './action.ts';
import { BEAD_ACTIONS } from './command.ts';

export async function plan(context: CommandContext): Promise<number> {
  const { input, cwd } = context;
  const goal = word(context);
  const out = input.text('out');
  await using pulse = await openPulse(context);
  const asked = await readInput(BEAD_ACTIONS.plan, context, {
    goal,
    ...(out === undefined ? {} : { out: resolve(cwd, out) }),
  });
  const started = await askingForTrust(context, asked.path, () => pulse.bead.plan(asked));
  return await goOn(pulse, context, started);
}
