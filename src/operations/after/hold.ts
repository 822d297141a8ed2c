/** Holding a session that has stopped: what is decided of it is decided by one at a time. */
import { PulseError } from '../../domain/errors.ts';
import { type HeldSession, holdSession } from '../../engine/runner/session-lease.ts';
import type { Operations } from '../context.ts';

const HOLD_WITHIN_MS = 10_000;
const LOOK_AGAIN_MS = 200;

/** A runner that is about to leave is waited for. The caller looks at the session again, and gives it back. */
export async function holdStopped({ engine }: Operations, sessionId: string): Promise<HeldSession> {
  using listener = engine.bell.listen(sessionId);
  const giveUpAt = engine.clock.nowMs() + HOLD_WITHIN_MS;
  for (;;) {
    const held = await holdSession(engine, sessionId);
    if (held) return held;
    if (engine.clock.nowMs() >= giveUpAt) {
      throw new PulseError('invalid_transition', `${sessionId} is in somebody else's hands just now.`, {
        hint: `pulse status ${sessionId} shows what happens; try again then.`,
      });
    }
    await listener.wait(LOOK_AGAIN_MS);
  }
}
