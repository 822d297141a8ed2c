import { isPulseError } from '../../domain/errors.ts';
import { createPulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';

/**
 * Exit 0: nothing is left for a runner to do here. Asked to stop it gives its lease back and exits 143, the session
 * stays running: a supervisor that was not asked as well starts it again.
 */
export async function run({ input, output, environment }: CommandContext): Promise<number> {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort('shutdown'));
  process.on('SIGHUP', () => undefined);
  const sessionId = input.argument('ID')!;
  await using pulse = await createPulse({ environment, onWait: output.talk });
  const say = (text: string): void =>
    output.talk(`${new Date().toISOString()} runner ${process.pid}: ${text}`);
  say(`takes ${sessionId}`);
  try {
    const end = await pulse.run(sessionId, stop.signal);
    say(`${sessionId}: ${end}`);
    return end === 'shutdown' ? 143 : 0;
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    if (isPulseError(error, 'fenced') || isPulseError(error, 'not_found')) return 0;
    throw error;
  }
}
