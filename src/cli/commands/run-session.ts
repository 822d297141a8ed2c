import { isPulseError, isStoreAway } from '../../domain/errors.ts';
import { redact } from '../../domain/redact.ts';
import { STORE_AWAY_EXIT } from '../../process/supervise.ts';
import { createPulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';

/**
 * Exit 0: nothing is left for a runner to do here. Asked to stop it gives its lease back and exits 143, the session
 * stays running: a supervisor that was not asked as well starts it again. Exit 75: the store is away or a disk is full,
 * and the supervisor tries again for as long as it takes.
 */
export async function run({ input, output, environment, pulse: more }: CommandContext): Promise<number> {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort('shutdown'));
  process.on('SIGHUP', () => undefined);
  const sessionId = input.argument('ID')!;
  const say = (text: string): void =>
    output.talk(redact(`${new Date().toISOString()} runner ${process.pid}: ${text}`));
  try {
    await using pulse = await createPulse({ ...more, environment, onWait: output.talk, onAbsence: say });
    say(`takes ${sessionId}`);
    const end = await pulse.run(sessionId, stop.signal);
    say(`${sessionId}: ${end}`);
    return end === 'shutdown' ? 143 : 0;
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    if (isPulseError(error, 'fenced') || isPulseError(error, 'not_found')) return 0;
    if (stop.signal.aborted) return 143;
    if (isStoreAway(error)) return STORE_AWAY_EXIT;
    throw error;
  }
}
