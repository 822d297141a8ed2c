import { accept } from '../../operations/session/definitions.ts';
import type { CommandContext } from '../command-spec.ts';
import { goOn } from '../follow/go-on.ts';
import { lastEvent } from '../follow/last-event.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';

/** The completion stands, with its changed checks; the session is followed to its end. */
export async function run(context: CommandContext): Promise<number> {
  await using pulse = await openPulse(context);
  const { sessionId } = await readInput(accept, context, {});
  const before = await pulse.session(sessionId);
  const after = await lastEvent(pulse, before.id);
  const decided = await pulse.accept(before.id, {});
  return await goOn(pulse, context, { ...decided, after });
}
