import { constants } from 'node:os';
import { PulseError } from '../../domain/errors.ts';
import { createPulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';

/** Runs until it is told to stop; a second signal does not wait. */
export async function run({ input, output, environment, pulse: more }: CommandContext): Promise<number> {
  const labels = (input.text('labels') ?? '').split(',').map((label) => label.trim());
  const named = labels.filter((label) => label !== '');
  if (named.length === 0) {
    throw new PulseError('usage', 'A daemon needs labels.', { hint: 'pulse daemon --labels linux' });
  }
  const stop = new AbortController();
  let stoppedBy: 'SIGINT' | 'SIGTERM' = 'SIGTERM';
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(128 + constants.signals[signal]);
      stoppedBy = signal;
      stop.abort();
    });
  }
  await using pulse = await createPulse({ ...more, environment, onWait: output.talk });
  const say = (text: string): void => output.talk(`${new Date().toISOString()} ${text}`);
  say(`Takes attempts for ${named.join(', ')}`);
  await pulse.daemon({ labels: named, concurrency: input.number('concurrency') ?? 1, say }, stop.signal);
  say(`${stoppedBy}: stopped; its attempts continue elsewhere`);
  return 128 + constants.signals[stoppedBy];
}
