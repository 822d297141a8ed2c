import { reject } from '../../operations/session/definitions.ts';
import type { CommandContext } from '../command-spec.ts';
import { goOn } from '../follow/go-on.ts';
import { lastEvent } from '../follow/last-event.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';

/** The completion does not stand; the session continues with what the person says. */
export async function run(context: CommandContext): Promise<number> {
  await using pulse = await openPulse(context);
  const { sessionId, text } = await readInput(reject, context, {});
  const before = await pulse.session(sessionId);
  const after = await lastEvent(pulse, before.id);
  const decided = await pulse.reject(before.id, { text });
  return await goOn(pulse, context, { ...decided, after });
}
