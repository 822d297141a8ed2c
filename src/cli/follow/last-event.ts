import type { Pulse } from '../../pulse.ts';

/** The number of the last event so far: what follows is new. */
export async function lastEvent(pulse: Pulse, id: string): Promise<number> {
  let seq = 0;
  for await (const event of pulse.follow(id, { onQuiet: async () => true })) seq = event.seq;
  return seq;
}
