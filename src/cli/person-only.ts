import { PulseError } from '../domain/errors.ts';

/** Throws where an agent's run is what asks: what is for people is not for it. */
export function refuseInsideRun(command: string, { PULSE_RUN_ID }: NodeJS.ProcessEnv): void {
  if (!PULSE_RUN_ID) return;
  throw new PulseError(
    'inside_run',
    `pulse ${command} is for people: an agent inside a run may not use it.`,
    { hint: 'End the iteration with the signal BLOCKED and say what a person should do.' },
  );
}
