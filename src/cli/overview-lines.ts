/** `pulse status`: every session that a person should know of, why it stopped, and the command that continues it. */
import { ATTENTION_GROUPS, type AttentionGroup } from '../domain/attention.ts';
import { formatDuration } from '../domain/durations.ts';
import { nextCommand } from '../domain/next-command.ts';
import type { Overview, OverviewEntry } from '../operations/overview.ts';
import { sanitizeForTerminal, sanitizeLine, shorten } from '../terminal/text.ts';
import { ago, localTime } from '../terminal/time.ts';
import { endSuffix, formatUsd, headline, STATUS_MARKS, unreadText } from './follow/result.ts';
import type { Side } from './output.ts';
import { requestText } from './waiting-text.ts';

const TITLES: Record<AttentionGroup, string> = {
  needs_you: 'Needs you',
  failed: 'Failed',
  no_runner: 'Nobody runs these',
  waiting: 'Waiting',
  running: 'Running',
  done: 'Done in the last 24 hours',
};

/** Where the rest of a group is listed. */
const REST: Record<AttentionGroup, string> = {
  needs_you: 'pulse list --status blocked',
  failed: 'pulse list --status failed',
  no_runner: 'pulse list --status running',
  waiting: 'pulse list --status running',
  running: 'pulse list --status running',
  done: 'pulse list',
};

/** So many lines of what an agent asked, or of what went wrong. */
const REASON_LINES = 3;

/** Empty where there is nothing to tell. On a terminal ids are cut to what is enough to name a session. */
export function overviewLines({ groups, counts }: Overview, side: Side, nowMs: number): string[] {
  const { style } = side;
  return ATTENTION_GROUPS.flatMap((group, index) => {
    const entries = groups[group];
    if (entries.length === 0) return [];
    const isFirst = ATTENTION_GROUPS.slice(0, index).every((earlier) => groups[earlier].length === 0);
    const rest = counts[group] - entries.length;
    return [
      ...(isFirst ? [] : ['']),
      style.bold(`${TITLES[group]} (${counts[group]})`),
      ...entries.flatMap((entry) => entryLines(entry, group, { side, nowMs })),
      ...(rest > 0 ? [style.dim(`  and ${rest} more: ${REST[group]}`)] : []),
    ];
  });
}

function entryLines(
  entry: OverviewEntry,
  group: AttentionGroup,
  { side, nowMs }: { side: Side; nowMs: number },
): string[] {
  const { style, isTerminal } = side;
  const room = isTerminal ? side.columns() - 1 : 200;
  const { mark, color } = STATUS_MARKS[entry.status];
  const name = isTerminal ? entry.short : entry.id;
  const head = `${mark} ${name}  `;
  const facts = shorten(
    `  ${factsOf(entry, group, nowMs).join(' · ')}`,
    Math.max(0, room - head.length - 12),
  );
  const goal = shorten(sanitizeLine(entry.goal), room - head.length - facts.length);
  const lines = [`${style[color](mark)} ${style.bold(name)}  ${goal}${style.dim(facts)}`];
  const indented = (text: string): string => `    ${shorten(text, room - 4)}`;
  if (group === 'needs_you' || group === 'failed') {
    lines.push(style[color](indented(headline(entry))));
    for (const line of reasonLines(entry)) lines.push(indented(line));
  }
  if (group === 'waiting' && entry.resume_at !== null)
    lines.push(
      style.yellow(indented(`until ${localTime(entry.resume_at)}, then ${entry.agent} is tried again`)),
    );
  if (entry.doing) {
    const since = formatDuration(Math.max(0, nowMs - Date.parse(entry.doing.since)));
    lines.push(indented(`${sanitizeLine(entry.doing.text)} for ${since}`));
  }
  const asked = group === 'running' || group === 'waiting' ? requestText(entry.request) : null;
  if (asked) lines.push(style.yellow(indented(asked)));
  if (group === 'done' && entry.unreadNotes > 0) {
    lines.push(style.yellow(indented(unreadText(entry.unreadNotes))));
    lines.push(`    ${style.cyan(`pulse follow ${name} "…"`)}`);
  }
  if (group === 'done') return lines;
  const next = nextCommand(entry, { isDriven: entry.runner !== 'none', name });
  // Nobody should accept what they have not seen.
  if (entry.stop_reason === 'checks_changed') lines.push(`    ${style.cyan(`pulse checks ${name}`)}`);
  if (next) lines.push(`    ${style.cyan(next.command)}`);
  return lines;
}

function factsOf(entry: OverviewEntry, group: AttentionGroup, nowMs: number): string[] {
  const since = Date.parse(entry.ended_at ?? entry.started_at ?? entry.created_at);
  const commits = `${entry.total_commits} ${entry.total_commits === 1 ? 'commit' : 'commits'}`;
  return [
    ...(group === 'done' ? [`${entry.status}${endSuffix(entry)}`] : []),
    ...(entry.unresolved > 0 ? [`${entry.unresolved} not resolved`] : []),
    ...(group === 'done' ? [commits] : []),
    ago(nowMs - since),
    shorten(sanitizeLine(entry.project_name), 20),
    ...(entry.spent_usd > 0 ? [formatUsd(entry.spent_usd)] : []),
  ];
}

function reasonLines({ blocked_reason: reason }: OverviewEntry): string[] {
  if (reason === null) return [];
  const lines = sanitizeForTerminal(reason)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length <= REASON_LINES) return lines;
  return [...lines.slice(0, REASON_LINES - 1), `${lines[REASON_LINES - 1]} …`];
}
