/** `pulse bead plan`: a session whose end is a file of beads. */
import { resolve } from 'node:path';
import type { CommandContext } from '../../../cli/command-spec.ts';
import { goOn } from '../../../cli/follow/go-on.ts';
import { openPulse } from '../../../cli/open-pulse.ts';
import { readInput } from '../../../cli/operation-command.ts';
import { askingForTrust } from '../../../cli/trusting.ts';
import { sanitizeLine } from '../../../terminal/text.ts';
import { word } from './action.ts';
import { BEAD_ACTIONS } from './command.ts';
import { draftLines } from './plan-follower.ts';

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

/** What was drafted, at any time after. */
export async function showDraft(context: CommandContext): Promise<number> {
  const { output } = context;
  await using pulse = await openPulse(context);
  const view = await pulse.bead.showPlan(word(context));
  const { session, file, draft } = view;
  if (output.isJson) output.json(view);
  else if (draft)
    for (const line of draftLines(draft, { path: file, style: output.stdout.style })) output.data(line);
  else output.talk(sanitizeLine(`${session.id} is ${session.status}: nothing is drafted yet.`));
  return 0;
}
