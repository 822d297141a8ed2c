import { superviseRunner } from '../../process/supervise.ts';
import type { CommandContext } from '../command-spec.ts';

export async function run({ input, program }: CommandContext): Promise<number> {
  const end = await superviseRunner({ program, sessionId: input.argument('ID')! });
  return end === 'gave_up' ? 1 : 0;
}
