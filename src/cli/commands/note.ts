import { note } from '../../operations/session/definitions.ts';
import type { CommandContext } from '../command-spec.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';
import { launchRunner } from '../session-runner.ts';
import { askingForTrust } from '../trusting.ts';

/** Tells a session something without stopping it. As an answer it makes the session go on, by itself. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  await using pulse = await openPulse(context);
  const { sessionId, ...said } = await readInput(note, context, {});
  const before = await pulse.session(sessionId);
  const { session, next } = await askingForTrust(context, before.project_path, () =>
    pulse.note(before.id, said),
  );
  if (next === 'run') await launchRunner(pulse, session, context);
  if (output.isJson) output.json({ session });
  else if (next === 'run') output.data(`${session.id} continues with the answer.`);
  else if (session.status === 'running') output.data(`${session.id} gets it with its next brief, or sooner.`);
  else output.data(`${session.id} gets it when it continues: pulse resume ${session.id}`);
  return 0;
}
