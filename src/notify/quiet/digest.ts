/** What a night, or a busy quarter of an hour, is told in. Pure. */
import { formatTrust } from '../../domain/check-words.ts';
import { cut } from '../../domain/cut.ts';
import type { Message } from '../texts.ts';
import type { DigestedSession } from './gather.ts';

/** Of each group; the rest is a number. */
const MOST_SHOWN = 8;
const MOST_GOAL = 80;
const MOST_REASON = 200;

/** The first line is enough where there is room for no more. */
export function digestOf(sessions: readonly DigestedSession[]): Message {
  const of = (...statuses: string[]) => sessions.filter(({ status }) => statuses.includes(status));
  const needing = of('blocked', 'failed');
  const done = of('complete');
  const [over, working] = [of('aborted', 'paused'), of('pending', 'running')];
  const spent = sessions.reduce((sum, { spent_usd: usd }) => sum + usd, 0);
  const unverified = done.filter(({ trust }) => !trust?.startsWith('verified')).length;
  const counts = [
    ...(needing.length > 0 ? [`${needing.length} ${needing.length === 1 ? 'needs' : 'need'} you`] : []),
    ...(done.length > 0 ? [`${done.length} done${unverified > 0 ? ` (${unverified} UNVERIFIED)` : ''}`] : []),
    ...(working.length > 0 ? [`${working.length} at work`] : []),
    ...(over.length > 0 ? [`${over.length} paused or aborted`] : []),
  ];
  const lines = [
    `🌅 Digest: ${counts.join(', ') || 'nothing is left to tell'}; $${spent.toFixed(2)} spent`,
    ...shown(needing, needLine),
    ...shown(done, doneLine),
    ...shown(working, (session) => `📍 ${title(session)}, ${progress(session)}`),
    ...shown(over, (session) => `${session.status === 'paused' ? '⏸️' : '🛑'} ${title(session)}`),
  ];
  return { text: lines.join('\n'), weight: needing.length > 0 ? 'needs' : 'end' };
}

function shown(sessions: readonly DigestedSession[], line: (session: DigestedSession) => string): string[] {
  const left = sessions.length - MOST_SHOWN;
  return [...sessions.slice(0, MOST_SHOWN).map(line), ...(left > 0 ? [`… and ${left} more`] : [])];
}

function needLine(session: DigestedSession): string {
  const { status, blocked_reason: reason, stop_reason: stop } = session;
  const why = cut((reason ?? stop ?? '').trim().replaceAll(/\s+/g, ' '), MOST_REASON);
  return `${status === 'failed' ? '❌' : '⏸️'} ${title(session)}: ${why}`;
}

function doneLine(session: DigestedSession): string {
  const { trust, total_commits: commits, branch_name: branch } = session;
  const word = trust === null ? 'unverified' : formatTrust(trust);
  return `✅ ${title(session)} (${word}): ${commits} commits on ${branch}`;
}

function title({ goal, id }: DigestedSession): string {
  return `${cut(goal.trim().split('\n')[0] ?? '', MOST_GOAL)} #${id.slice(-4)}`;
}

function progress({ current_iteration: n, max_iterations: max }: DigestedSession): string {
  return `${n}/${max}`;
}

/** One line a session: its last step. */
export function rollupOf(lines: readonly string[], count: number): Message {
  const more = count - lines.length;
  const note = more > 0 ? [`(and ${more} ${more === 1 ? 'step' : 'steps'} before)`] : [];
  return { text: [...lines, ...note].join('\n'), weight: 'news' };
}
