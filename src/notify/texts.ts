/** What people are told of an event, in the same words on every channel. Pure. */
import { cut } from '../domain/cut.ts';

export interface ToldEvent {
  type: string;
  iteration: number | null;
  data: Record<string, unknown>;
}

/** What the words need of the session. */
export interface ToldSession {
  kind: string;
  goal: string;
  max_iterations: number;
  current_iteration: number;
  total_commits: number;
}

export interface Message {
  text: string;
  /** `needs`: a person has to act. `end`: it is over. `news`: neither, so it comes without a sound. */
  weight: 'needs' | 'end' | 'news';
}

/** `null`: nobody is told of it. */
export function messageOf({ type, iteration, data }: ToldEvent, session: ToldSession): Message | null {
  switch (type) {
    case 'iteration.settled':
      return session.kind === 'goal' && data.signal === 'CONTINUE'
        ? { text: continuing(iteration ?? 0, { summary: said(data.summary), session }), weight: 'news' }
        : null;
    case 'experiment.status':
      return { text: `📍 ${said(data.text)}`, weight: 'news' };
    case 'experiment.surprised':
      return {
        text: `📍 Experiment ${said(data.number)}: ${said(data.text ?? data.reason)}`,
        weight: 'news',
      };
    case 'session.ended': {
      const { current_iteration: iterations, total_commits: commits } = session;
      return {
        text: `✅ Session complete (${iterations} iterations, ${commits} commits)`,
        weight: 'end',
      };
    }
    case 'session.blocked':
      return { text: `⏸️ Blocked: ${why(data)}`, weight: 'needs' };
    case 'session.failed':
      return { text: `❌ Failed: ${why(data)}`, weight: 'needs' };
    case 'session.paused':
      return { text: '⏸️ Paused', weight: 'news' };
    case 'session.aborted':
      return { text: '🛑 Aborted', weight: 'end' };
    default:
      return null;
  }
}

const MOST_QUOTED = 300;

/** The message of a stop, once somebody has answered. */
export function answeredText(before: string, { type, data }: Pick<ToldEvent, 'type' | 'data'>): string {
  const who = said(data.actor) || 'somebody';
  if (type === 'session.aborted') return `${before}\n\n🛑 ${who} aborted it`;
  const words = cut(said(data.answer), MOST_QUOTED);
  return `${before}\n\n↪️ ${who}${words ? `: ${words}` : ' let it continue'}`;
}

function continuing(
  iteration: number,
  { summary, session }: { summary: string; session: ToldSession },
): string {
  const what = summary === '' ? 'no summary' : summary.replace(/\.$/, '');
  return `📍 Iteration ${iteration}/${session.max_iterations}: ${what}. Continuing...`;
}

function why({ detail, stopReason }: Record<string, unknown>): string {
  return said(detail) || said(stopReason) || 'no reason was given';
}

function said(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
}
