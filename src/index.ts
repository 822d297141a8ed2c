/** What the package offers to other programs. */

export { PulseError } from './domain/errors.ts';
export type { PulseEvent } from './domain/events.ts';
export { type ParsedSignal, parseSignal } from './domain/signals.ts';
export { createPulse, type Pulse, type PulseOptions } from './pulse.ts';
