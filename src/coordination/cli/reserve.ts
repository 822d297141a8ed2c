import { readFromRun, refuseUnasked } from '../../cli/ask-run.ts';
import type { CommandContext } from '../../cli/command-spec.ts';
import { openPulse } from '../../cli/open-pulse.ts';
import { readInput } from '../../cli/operation-command.ts';
import type { Output } from '../../cli/output.ts';
import { refuseInsideRun } from '../../cli/person-only.ts';
import { PulseError } from '../../domain/errors.ts';
import type { Pulse } from '../../pulse.ts';
import { padTo, sanitizeLine } from '../../terminal/text.ts';
import { localTime } from '../../terminal/time.ts';
import { reserve } from '../operations/reservation-definitions.ts';
import type { ReservationView } from '../reservations/held.ts';
import { projectHere, requireOption } from './project-here.ts';
import { pathsFrom } from './reserved-paths.ts';

/** Exit 1: something stands in the way, and nothing was reserved. */
export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment } = context;
  const isList = input.has('list');
  if (!isList) refuseInsideRun('reserve', environment);
  if (isList) {
    const told = await readFromRun<Held>(environment, 'list_file_reservations', {
      agent_name: input.text('as'),
    });
    if (told !== null) return showHeld(told, context);
  }
  refuseUnasked(isList ? 'reserve --list' : 'reserve', environment);
  await using pulse = await openPulse(context);
  if (isList) return showHeld(await listHeld(pulse, context), context);
  const paths = pathsFrom(context);
  if (paths.length === 0)
    throw new PulseError('usage', 'pulse reserve needs a PATH.', {
      hint: 'pulse reserve src/parser.ts --as Fox; pulse reserve --list shows who has reserved what.',
    });
  const agent_name = requireOption(context, 'as');
  const asked = await readInput(reserve, context, { paths, agent_name, project_key: projectHere(context) });
  const { granted, conflicts } = await pulse.reservations.reserve(asked);
  if (output.isJson) output.json({ granted, conflicts });
  else if (conflicts.length === 0) output.data(heldLines(granted, output));
  for (const { path, pattern, holder, expires_at } of output.isJson ? [] : conflicts)
    output.talk(sanitizeLine(`${path}: ${holder} has reserved ${pattern} until ${localTime(expires_at)}.`));
  return conflicts.length === 0 ? 0 : 1;
}

interface Held {
  reservations: ReservationView[];
}

function listHeld(pulse: Pulse, context: CommandContext): Promise<Held> {
  return pulse.reservations.list({
    project_key: projectHere(context),
    agent_name: context.input.text('as'),
  });
}

function showHeld({ reservations }: Held, { output }: CommandContext): number {
  if (output.isJson) output.json({ reservations });
  else if (reservations.length > 0) output.data(heldLines(reservations, output));
  else output.talk('Nothing is reserved.');
  return 0;
}

function heldLines(reservations: readonly ReservationView[], { stdout: { style } }: Output): string {
  const width = Math.max(...reservations.map(({ agent_name }) => agent_name.length));
  return reservations
    .map(({ agent_name, path, exclusive, reason, expires_at }) => {
      const until = style.dim(`until ${localTime(expires_at)}${exclusive ? '' : ', shared'}`);
      return `${padTo(agent_name, width)}  ${sanitizeLine(path)}  ${until}${reason ? `  ${sanitizeLine(reason)}` : ''}`;
    })
    .join('\n');
}
