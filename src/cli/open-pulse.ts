import { createPulse, type Pulse } from '../pulse.ts';
import { actor } from './actor.ts';
import type { CommandContext } from './command-spec.ts';

/** As the person at this machine. The caller closes it (`await using`). */
export function openPulse({
  environment,
  output,
}: Pick<CommandContext, 'environment' | 'output'>): Promise<Pulse> {
  return createPulse({ environment, onWait: output.talk, caller: { actor: actor(), createdBy: 'cli' } });
}
