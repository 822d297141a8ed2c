import { resume } from '../../operations/session/definitions.ts';
import type { CommandContext } from '../command-spec.ts';
import { goOn } from '../follow/go-on.ts';
import { lastEvent } from '../follow/last-event.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';
import { askingForTrust } from '../trusting.ts';

/** Continues a stopped session, adopts one that nobody runs, or just follows one that is being run. */
export async function run(context: CommandContext): Promise<number> {
  await using pulse = await openPulse(context);
  const { sessionId, ...asked } = await readInput(resume, context, {});
  const before = await pulse.session(sessionId);
  const isLive = before.status === 'running' || before.status === 'pending';
  const after = isLive ? 0 : await lastEvent(pulse, before.id);
  const resumed = await askingForTrust(context, before.project_path, () => pulse.resume(before.id, asked));
  return await goOn(pulse, context, { ...resumed, after });
}
