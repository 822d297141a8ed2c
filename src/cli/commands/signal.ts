import { parseSignal } from '../../domain/signals.ts';
import type { CommandContext } from '../command-spec.ts';
import { readStdin } from '../stdin.ts';

/** What Pulse reads in a final message. */
export async function run({ output }: CommandContext): Promise<number> {
  const { signal, reason, source, rule, anchorHint, mentions, conflict } = parseSignal(await readStdin());
  output.json({ signal, reason, source, rule, anchorHint, mentions, conflict });
  return 0;
}
