import { createPulse, type Pulse } from '../pulse.ts';
import { refuseNewStore } from '../reader.ts';
import { actor } from './actor.ts';
import type { CommandContext } from './command-spec.ts';

/** As the person at this machine. The caller closes it (`await using`). */
export function openPulse({
  environment,
  output,
  pulse,
}: Pick<CommandContext, 'environment' | 'output' | 'pulse'>): Promise<Pulse> {
  refuseNewStore(environment);
  const caller = { actor: actor(), createdBy: 'cli' } as const;
  return createPulse({ ...pulse, environment, onWait: output.talk, caller });
}
