/** Numbers and times as people read them; short, because they stand in rows. */

export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h`;
  return `${Math.floor(hours / 24)}d`;
}

export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${Number(seconds.toFixed(1))}s`;
  if (seconds < 60) return `${Math.round(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${pad(Math.floor(seconds % 60))}s`;
  return `${Math.floor(minutes / 60)}h${pad(minutes % 60)}m`;
}

/** As it is written on the command line. */
export function wholeDuration(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  if (ms % 60_000 === 0) return `${ms / 60_000}m`;
  return `${Math.round(ms / 1000)}s`;
}

export function money(usd: number): string {
  if (usd === 0) return '$0';
  return usd < 0.1 ? `$${usd.toFixed(3)}` : `$${usd.toFixed(2)}`;
}

interface Spent {
  spent_usd: number;
  total_tokens_used: number;
  budget_usd: number | null;
}

/** In a row. An agent that tells no cost may still have one: nothing is not claimed. */
export function spentShort({ spent_usd: usd, total_tokens_used: tokens }: Spent): string {
  if (usd > 0) return money(usd);
  return tokens > 0 ? `${count(tokens)} tok` : '–';
}

export function spentOf({ spent_usd: usd, budget_usd: limit }: Spent): string {
  if (usd > 0) return limit === null ? money(usd) : `${money(usd)} of ${money(limit)}`;
  return limit === null ? 'not known' : `not known, limit ${money(limit)}`;
}

export function count(value: number): string {
  if (value < 10_000) return String(value);
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

export function clock(at: string | number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false });
  return isSameDay(date, new Date())
    ? time
    : `${date.toLocaleDateString([], { month: 'short', day: 'numeric' })} ${time}`;
}

/** A swarm's beads end it, not their number: its limit says nothing. */
const NO_LIMIT = 1_000_000;

export function progress(of: { current_iteration: number; max_iterations: number }): string {
  if (of.max_iterations >= NO_LIMIT) return String(of.current_iteration);
  return `${of.current_iteration}/${of.max_iterations}`;
}

export function plural(value: number, word: string, words = `${word}s`): string {
  return `${value} ${value === 1 ? word : words}`;
}

export function shortSha(sha: string | null): string {
  return sha === null ? '' : sha.slice(0, 7);
}

/** `blocked_by_agent` as words. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export function number(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
}

function isSameDay(a: Date, b: Date): boolean {
  return a.toDateString() === b.toDateString();
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
