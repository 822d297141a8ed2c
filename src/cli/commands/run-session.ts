import { isPulseError, isStoreAway } from '../../domain/errors.ts';
import { redact } from '../../domain/redact.ts';
import { giveBackMemorySoon } from '../../process/give-back-memory.ts';
import { readSessionId, STORE_AWAY_EXIT, UNNAMED } from '../../process/supervise.ts';
import { createPulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';

/** Nobody else may be there to tell it, if a service is away when the session ends. */
const MOST_TELLING_MS = 10 * 60_000;

/**
 * Exit 0: nothing is left for a runner to do here. Asked to stop it gives its lease back and exits 143, the session
 * stays running: a supervisor that was not asked as well starts it again. Exit 75: the store is away or a disk is full,
 * and the supervisor tries again for as long as it takes.
 */
export async function run({ input, output, environment, pulse: more }: CommandContext): Promise<number> {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort('shutdown'));
  process.on('SIGHUP', () => undefined);
  const given = input.argument('ID')!;
  const sessionId = given === UNNAMED ? await readSessionId() : given;
  if (sessionId === null) return 0;
  const say = (text: string): void =>
    output.talk(redact(`${new Date().toISOString()} runner ${process.pid}: ${text}`));
  try {
    await using pulse = await createPulse({ ...more, environment, onWait: output.talk, onAbsence: say });
    say(`takes ${sessionId}`);
    giveBackMemorySoon();
    const end = await pulse.run(sessionId, stop.signal);
    say(`${sessionId}: ${end}`);
    await pulse.deliverRest(AbortSignal.any([stop.signal, AbortSignal.timeout(MOST_TELLING_MS)]));
    return end === 'shutdown' ? 143 : 0;
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    if (isPulseError(error, 'fenced') || isPulseError(error, 'not_found')) return 0;
    if (stop.signal.aborted) return 143;
    if (isStoreAway(error)) return STORE_AWAY_EXIT;
    throw error;
  }
}
