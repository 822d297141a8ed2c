import type { CommandContext } from '../command-spec.ts';
import { keptRefs } from '../kept-refs.ts';
import { openPulse } from '../open-pulse.ts';

const MOST_TELLING_MS = 3_000;

export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment } = context;
  await using pulse = await openPulse(context);
  const { session } = await pulse.abort(input.argument('ID')!);
  if (output.isJson) output.json({ session });
  else {
    output.data(`${session.id} is ${session.status}. Its branch ${session.branch_name} stays.`);
    for (const ref of await keptRefs(session, environment))
      output.data(`What was not taken over is kept for 30 days: ${ref}`);
  }
  // Nobody runs a session that waited.
  await pulse.deliverRest(AbortSignal.timeout(MOST_TELLING_MS));
  return 0;
}
