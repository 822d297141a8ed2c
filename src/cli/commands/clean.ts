import { OLD_AFTER_MS } from '../../domain/after-words.ts';
import { formatDuration } from '../../domain/durations.ts';
import { PulseError } from '../../domain/errors.ts';
import { clean } from '../../operations/after/definitions.ts';
import type { HeldBySession } from '../../operations/after/held.ts';
import type { Pulse } from '../../pulse.ts';
import { sanitizeLine, shorten } from '../../terminal/text.ts';
import { ago } from '../../terminal/time.ts';
import type { CommandContext } from '../command-spec.ts';
import { ask } from '../confirm.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';
import { canAsk } from '../trusting.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, output } = context;
  await using pulse = await openPulse(context);
  const { unmerged, ...how } = await readInput(clean, context, {});
  const { held } = await pulse.showHeld(how);
  if (output.isJson && !input.has('yes')) {
    output.json({ held });
    return 0;
  }
  if (!output.isJson) {
    for (const line of held.flatMap((entry, at) => linesOf(entry, { number: at + 1, unmerged })))
      output.data(line);
    output.talk(held.length === 0 ? await nothingHeld(pulse, how.olderThanMs) : totalOf(held));
  }
  const sessions = input.has('yes') ? held.map(({ session }) => session.id) : await choose(context, held);
  if (sessions.length === 0 && !output.isJson) return 0;
  const cleaned = await pulse.clean({ ...how, unmerged, sessions });
  if (output.isJson) {
    output.json(cleaned);
    return 0;
  }
  for (const { branch, why } of cleaned.left) output.talk(`${branch} stays: ${sanitizeLine(why)}`);
  output.data(
    `Removed what ${countOf(cleaned.removed)} held: ${formatBytes(cleaned.bytes)} of files and rows.`,
  );
  return 0;
}

/** Nobody there to ask: nothing is chosen. */
async function choose({ output }: CommandContext, held: readonly HeldBySession[]): Promise<string[]> {
  if (held.length === 0) return [];
  if (!canAsk(output)) {
    output.talk('Nothing was removed. pulse clean --yes removes all of it that may go.');
    return [];
  }
  const answer = (await ask('Remove which? [all, none, or numbers such as 1 3-5] ')).trim();
  const chosen = numbersOf(answer, held.length);
  if (chosen.length === 0) output.talk('Nothing was removed.');
  return chosen.map((number) => held[number - 1]!.session.id);
}

function numbersOf(answer: string, most: number): number[] {
  const all = Array.from({ length: most }, (_, at) => at + 1);
  if (/^(all|a|y|yes)$/i.test(answer)) return all;
  if (/^(none|n|no|)$/i.test(answer)) return [];
  const wanted = new Set<number>();
  for (const part of answer.split(/[\s,]+/)) {
    const [, from, to] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    if (from === undefined || Number(from) < 1 || Number(to ?? from) > most)
      throw new PulseError('usage', `"${part}" is none of 1 to ${most}.`, { hint: 'Nothing was removed.' });
    for (let number = Number(from); number <= Number(to ?? from); number++) wanted.add(number);
  }
  return all.filter((number) => wanted.has(number));
}

function linesOf(
  { session, branches, worktree, recordingsBytes, logBytes, rowsBytes }: HeldBySession,
  { number, unmerged }: { number: number; unmerged: boolean | undefined },
): string[] {
  const { id, goal, status, ended_at: ended } = session;
  const age = ended === null ? '' : `, ${ago(Date.now() - Date.parse(ended))}`;
  const sizes = [
    ['recordings', recordingsBytes],
    ['log', logBytes],
    ['rows', rowsBytes],
  ] as const;
  return [
    `${String(number).padStart(3)}  ${id} (${status}${age})  ${shorten(sanitizeLine(goal), 60)}`,
    ...branches.map(({ name, isMerged, checkedOutIn }) => {
      if (checkedOutIn)
        return `     branch ${name}: stays, it is checked out in ${sanitizeLine(checkedOutIn)}`;
      if (isMerged) return `     branch ${name}: merged`;
      return `     branch ${name}: not merged${unmerged ? '' : ', stays (--unmerged removes it)'}`;
    }),
    ...(worktree ? [`     worktree ${worktree.path}: ${formatBytes(worktree.bytes)}`] : []),
    ...sizes.filter(([, bytes]) => bytes > 0).map(([name, bytes]) => `     ${name}: ${formatBytes(bytes)}`),
  ];
}

/** What is younger is not shown, but may be what the person came for. */
async function nothingHeld(pulse: Pulse, olderThanMs = OLD_AFTER_MS): Promise<string> {
  if (olderThanMs === 0) return 'No session that has ended holds anything.';
  const said = `Sessions that ended more than ${olderThanMs < 60_000 ? formatDuration(olderThanMs) : ago(olderThanMs)} ago hold nothing`;
  const { held } = await pulse.showHeld({ olderThanMs: 0 });
  if (held.length === 0) return `${said}, and younger ones neither.`;
  const holds = held.length === 1 ? '1 younger one holds' : `${held.length} younger ones hold`;
  return `${said}; ${holds} ${formatBytes(bytesOf(held))} (pulse clean --older-than 0s).`;
}

function totalOf(held: readonly HeldBySession[]): string {
  const holds = held.length === 1 ? 'holds' : 'hold';
  return `${countOf(held)} ${holds} ${formatBytes(bytesOf(held))} of files and rows.`;
}

function bytesOf(held: readonly HeldBySession[]): number {
  return held.reduce(
    (sum, { worktree, recordingsBytes, logBytes, rowsBytes }) =>
      sum + (worktree?.bytes ?? 0) + recordingsBytes + logBytes + rowsBytes,
    0,
  );
}

function countOf(sessions: readonly unknown[]): string {
  return `${sessions.length} ${sessions.length === 1 ? 'session' : 'sessions'}`;
}

function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kilo = bytes / 1024;
  return kilo < 1024 ? `${kilo.toFixed(0)} KB` : `${(kilo / 1024).toFixed(1)} MB`;
}
