/** Holding a session that has stopped: what is decided of it is decided by one at a time. */
import { PulseError } from '../../domain/errors.ts';
import type { SessionStatus } from '../../domain/status.ts';
import { type HeldSession, holdSession } from '../../engine/runner/session-lease.ts';
import { getSession } from '../../store/sessions.ts';
import type { Operations } from '../context.ts';

/** One that runs again is perhaps about to stop. */
const RUNS_WITHIN_MS = 10_000;
/** A large worktree, and the room of its checks, are not removed in a moment on a busy machine. */
const TIDIED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 200;
const LIVE_STATUSES: readonly SessionStatus[] = ['pending', 'running'];

/** A runner that is about to leave is waited for. The caller looks at the session again, and gives it back. */
export async function holdStopped({ engine }: Operations, sessionId: string): Promise<HeldSession> {
  const { bell, clock, store } = engine;
  using listener = bell.listen(sessionId);
  const began = clock.elapsedMs();
  for (;;) {
    const held = await holdSession(engine, sessionId);
    if (held) return held;
    const { status } = await store.read((db) => getSession(db, sessionId));
    const isLive = LIVE_STATUSES.includes(status);
    if (clock.elapsedMs() - began >= (isLive ? RUNS_WITHIN_MS : TIDIED_WITHIN_MS)) {
      const what = isLive ? status : 'still being tidied up, or decided about';
      throw new PulseError('invalid_transition', `${sessionId} is ${what}.`, {
        hint: `pulse status ${sessionId} shows what happens; try again then.`,
      });
    }
    await listener.wait(LOOK_AGAIN_MS);
  }
}
