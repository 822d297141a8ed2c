import type { CommandContext } from '../../cli/command-spec.ts';
import { openPulse } from '../../cli/open-pulse.ts';
import { sanitizeLine } from '../../terminal/text.ts';
import { projectHere, requireOption } from './project-here.ts';
import { pathsFrom } from './reserved-paths.ts';

/** Exit 1: nothing of the agent's was released. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  const agent_name = requireOption(context, 'as');
  await using pulse = await openPulse(context);
  const paths = pathsFrom(context);
  const { released } = await pulse.reservations.release({
    project_key: projectHere(context),
    agent_name,
    ...(paths.length === 0 ? {} : { paths }),
  });
  if (output.isJson) output.json({ released });
  else if (released.length === 0) output.talk(`Nothing of ${sanitizeLine(agent_name)}’s was reserved.`);
  else output.data(released.map(({ path }) => sanitizeLine(path)).join('\n'));
  return released.length === 0 ? 1 : 0;
}
