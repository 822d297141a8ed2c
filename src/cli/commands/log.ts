import { wayBack } from '../../domain/after-words.ts';
import { PulseError } from '../../domain/errors.ts';
import type { PulseEvent } from '../../domain/events.ts';
import type { Pulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';
import { eventText } from '../event-text.ts';
import { keptRefs } from '../kept-refs.ts';
import { openPulse } from '../open-pulse.ts';
import { runnerLog } from '../session-runner.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment } = context;
  await using pulse = await openPulse(context);
  const { session, iterations } = await pulse.show(input.argument('ID')!);
  const finalMessages = new Map(iterations.map((row) => [row.iteration_number, row.output_full]));
  const spoken = new Set<number>();
  const wanted = input.number('iteration');
  if (wanted !== undefined && !finalMessages.has(wanted)) {
    throw new PulseError('not_found', `Session ${session.id} has no iteration ${wanted}.`, {
      hint: `It is at iteration ${session.current_iteration}.`,
    });
  }
  const { style } = output.stdout;
  for await (const event of eventsSoFar(pulse, session.id)) {
    if (wanted !== undefined && event.iteration !== wanted) continue;
    if (output.isJson) {
      output.json(event);
      continue;
    }
    const { type, iteration = 0 } = event;
    if (type === 'agent.text') spoken.add(iteration);
    // A `command` agent says nothing while it runs: its message is all there is.
    const message =
      type === 'signal.received' && !spoken.has(iteration) ? finalMessages.get(iteration) : null;
    if (message) output.data(eventText({ ...event, type: 'agent.text', data: { text: message } }, style));
    output.data(eventText(event, style));
  }
  const kept = output.isJson ? [] : await keptRefs(session, environment);
  for (const ref of kept)
    output.talk(style.dim(`work that was not taken over: ${ref}; back by: ${wayBack(ref)}`));
  if (!output.isJson) output.talk(style.dim(`the runner's own log: ${runnerLog(pulse, session.id)}`));
  return 0;
}

/** What has happened until now; does not wait for more. */
function eventsSoFar(pulse: Pulse, id: string): AsyncGenerator<PulseEvent> {
  return pulse.follow(id, { onQuiet: async () => true });
}
