import { openReader } from '../../reader.ts';
import { sanitizeLine, shorten } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';

/** So many are offered: who wants an older one knows its name. */
const NEWEST = 50;

/** The short name, a tab, what it is about. */
export async function run({ input, output, environment }: CommandContext): Promise<number> {
  await using pulse = await openReader({ environment });
  const wanted = input.argument('KIND');
  const { sessions: all } = await pulse.list({ limit: NEWEST });
  const sessions = all.filter(({ kind }) => wanted === undefined || kind === wanted);
  const names = await pulse.shortNames(sessions.map(({ id }) => id));
  for (const { id, status, goal } of sessions)
    output.data(`${names.get(id)}\t${status} ${shorten(sanitizeLine(goal), 50)}`);
  return 0;
}
