import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loading is over by then, and so is the search for what earlier sessions have said. */
const AFTER_MS = 5_000;

/**
 * Gives the system back, once, what loading and starting have left behind: 15 MB of a runner that from then on mostly
 * waits for its agent, and V8 clears up only where much is asked of it. It takes some 50 ms, and keeps no process alive.
 */
export function giveBackMemorySoon(): void {
  setTimeout(giveBackMemory, AFTER_MS).unref();
}

function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how: { type: 'major'; flavor: 'last-resort' }) => void;
  // The compile cache is written at the end, and is of no use to a process whose flags are others.
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
