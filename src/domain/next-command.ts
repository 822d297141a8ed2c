/**
 * The command that continues a session. Every surface that advises one takes it from here, so that it works as it is
 * printed.
 */
import type { SessionStatus, StopReason } from './status.ts';

export interface Standing {
  id: string;
  kind: string;
  status: SessionStatus;
  stop_reason: StopReason | null;
  total_commits: number;
  current_iteration: number;
  max_iterations: number;
  spent_usd: number;
  budget_usd: number | null;
  total_tokens_used: number;
  budget_tokens: number | null;
  running_ms: number;
  time_limit_ms: number | null;
}

export interface NextCommand {
  /** What it does, in a word or two. */
  label: string;
  command: string;
}

/** `isDriven`: somebody runs it. `name`: how the session is called in the command. `null`: it has ended. */
export function nextCommand(
  standing: Standing,
  { isDriven, name = standing.id }: { isDriven: boolean; name?: string },
): NextCommand | null {
  const resume = `pulse resume ${name}`;
  switch (standing.status) {
    case 'complete':
    case 'aborted':
      return null;
    case 'pending':
    case 'running':
      return isDriven
        ? { label: 'follow', command: `pulse watch ${name}` }
        : { label: 'continue', command: resume };
  }
  const other = decisionCommand(standing, name);
  if (other) return other;
  const limit = higherLimit(standing);
  if (limit) return { label: 'continue', command: `${resume} ${limit}` };
  if (ASKING.has(standing.stop_reason)) return { label: 'answer', command: `${resume} --answer "…"` };
  const isAccepted = standing.stop_reason === 'unresolved_issues' && standing.kind !== 'beads';
  return { label: isAccepted ? 'accept' : 'continue', command: resume };
}

const ASKING: ReadonlySet<StopReason | null> = new Set<StopReason>([
  'blocked_by_agent',
  'no_signal',
  'signal_conflict',
  'stagnation',
  'verification_failed',
]);

/** Where a person must decide and `resume` is refused; `null` where it is not. */
export function decisionCommand(
  { id, kind, stop_reason, total_commits }: Standing,
  name: string = id,
): NextCommand | null {
  switch (stop_reason) {
    case 'approval_required':
      return total_commits === 0
        ? { label: 'approve', command: `pulse workflow approve ${name}` }
        : { label: 'review', command: `pulse workflow review ${name} --approve` };
    case 'checks_changed':
      return { label: 'accept', command: `pulse accept ${name}` };
    case 'merge_conflict':
      // A swarm tries its queue again.
      if (kind === 'beads') return null;
      return { label: 'review', command: `pulse workflow review ${name} --approve --merge merge` };
    case 'extension_requested':
      return { label: 'extend', command: `pulse workflow extension ${name} --approve` };
    default:
      return null;
  }
}

const HOUR_MS = 3_600_000;

/** The option with a limit above what is spent, where the session stopped at one; else `null`. */
export function higherLimit(standing: Standing): string | null {
  switch (standing.stop_reason) {
    case 'iteration_limit':
      return `--max-iterations ${Math.max(standing.max_iterations, standing.current_iteration) + 10}`;
    case 'budget_cost':
      return `--budget-usd ${twice(Math.max(standing.budget_usd ?? 0, standing.spent_usd))}`;
    case 'budget_tokens':
      return `--budget-tokens ${twice(Math.max(standing.budget_tokens ?? 0, standing.total_tokens_used))}`;
    case 'budget_time': {
      const hours = Math.max(standing.time_limit_ms ?? 0, standing.running_ms) / HOUR_MS;
      return `--time-limit ${twice(hours)}h`;
    }
    default:
      return null;
  }
}

/** A whole number, always above what it is made of. */
function twice(amount: number): number {
  return Math.max(1, Math.ceil(amount * 2));
}
