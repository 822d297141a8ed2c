import { createPulse } from '../../pulse.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';
import { keptRefs } from '../kept-refs.ts';

export async function run({ input, output, environment }: CommandContext): Promise<number> {
  await using pulse = await createPulse({ environment, onWait: output.talk });
  const session = await pulse.abort(input.argument('ID')!, { actor: actor() });
  if (output.isJson) output.json({ session });
  else {
    output.data(`${session.id} is ${session.status}. Its branch ${session.branch_name} stays.`);
    for (const ref of await keptRefs(session, environment))
      output.data(`What was not taken over is kept for 30 days: ${ref}`);
  }
  return 0;
}
