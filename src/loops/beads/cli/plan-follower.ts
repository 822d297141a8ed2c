/** What followers of a drafting see: the beads, and every command in them, before anybody imports anything. */

import type { LoopFollower } from '../../../cli/follow/loop-follower.ts';
import type { PulseEvent } from '../../../domain/events.ts';
import { quoteIfNeeded } from '../../../domain/shell-words.ts';
import type { Style } from '../../../terminal/style.ts';
import { sanitizeLine } from '../../../terminal/text.ts';
import type { BeadDraft } from '../plan/draft.ts';
import { draftCommands } from '../plan/draft-commands.ts';

export const beadPlanFollower: LoopFollower = {
  eventText,
  eventLines(event, _, { style }) {
    const text = eventText(event, style);
    return text === null ? null : text.split('\n');
  },
};

function eventText({ type, data }: PulseEvent, style: Style): string | null {
  if (type !== 'beads.drafted') return null;
  const { path, ...draft } = data as unknown as BeadDraft & { path: string };
  return draftLines(draft, { path, style }).join('\n');
}

/** The beads, and every command in them. `path`: where the draft lies; `null`: it is not written yet. */
export function draftLines(
  { epic, beads }: BeadDraft,
  { path, style }: { path: string | null; style: Style },
): string[] {
  const width = Math.max(...beads.map(({ id }) => id.length));
  return [
    `${style.bold(sanitizeLine(epic.title))}  ${style.dim(`epic ${sanitizeLine(epic.id)}`)}`,
    ...beads.map(({ id, title, dependencies = [] }) => {
      const waits = dependencies.length === 0 ? '' : sanitizeLine(`after ${dependencies.join(', ')}`);
      return `  ${sanitizeLine(id).padEnd(width)}  ${sanitizeLine(title)}  ${style.dim(waits)}`.trimEnd();
    }),
    style.yellow('These commands would be run. Read them before you import:'),
    ...commandLines({ epic, beads }).map((line) => `  ${line}`),
    ...(path === null
      ? []
      : [`${style.dim('import')} pulse bead import ${quoteIfNeeded(sanitizeLine(path))}`]),
  ];
}

/** Each command once, with the beads that bring it. */
function commandLines(draft: BeadDraft): string[] {
  const beads = new Map<string, string[]>();
  for (const { bead, command } of draftCommands(draft)) {
    const known = beads.get(command) ?? [];
    if (!known.includes(bead)) known.push(bead);
    beads.set(command, known);
  }
  return [...beads].map(([command, ids]) => sanitizeLine(`${command}  (${ids.join(', ')})`));
}
