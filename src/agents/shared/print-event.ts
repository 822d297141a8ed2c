/** Prints the event stream, for agents that are scripts of this package. Imports nothing, so that they start fast. */
import type { RunEvent } from '../contract.ts';

export function printEvent(event: RunEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

/** How fast a script plays: 1 as written, 2 twice as fast, 0 without any pause; anything else is `null`. */
export function readSpeed(value: string | undefined): number | null {
  if (value === undefined || value.trim() === '') return null;
  const speed = Number(value);
  return Number.isFinite(speed) && speed >= 0 ? speed : null;
}
