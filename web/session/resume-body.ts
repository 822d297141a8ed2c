/** What a resume sends. After a limit it asks for a higher one; twice as much is filled in. */
import type { Card } from '../api/types.ts';
import { bodyOf, type Field, type Values } from '../ui/form.tsx';
import { wholeDuration } from '../ui/format.ts';

/** What a resume may change; what is empty stays as it is. */
export const MORE: Field[] = [
  { name: 'maxIterations', label: 'Iterations in all', kind: 'number' },
  { name: 'budgetUsd', label: 'Budget in all, USD', kind: 'usd' },
  { name: 'budgetTokens', label: 'Budget in all, tokens', kind: 'number' },
  { name: 'timeLimit', label: 'Time in all', placeholder: '8h' },
  { name: 'iterationTimeout', label: 'An iteration takes at most', placeholder: '1h' },
  { name: 'idleTimeout', label: 'The agent is silent at most', placeholder: '15m' },
  { name: 'agent', label: 'Agent' },
  { name: 'model', label: 'Model' },
  { name: 'command', label: 'Command, instead of an agent', isWide: true },
  { name: 'verify', label: 'Verify', kind: 'lines', hint: 'One command a line, in place of those before.' },
  { name: 'setup', label: 'Setup', kind: 'lines', hint: 'One command a line.' },
  {
    name: 'checks',
    label: 'A completion that changes checks',
    kind: 'choice',
    choices: ['ask', 'allow', 'forbid'],
  },
  { name: 'noBase', label: 'Do not run the checks first', kind: 'flag' },
];

interface Filled {
  limit: Limit | null;
  raised: string;
  more: Values;
  answer: string;
}

/** What is empty is not given. Throws where a number cannot be read. */
export function resumeBody({ limit, raised, more, answer }: Filled): Record<string, unknown> {
  return {
    ...bodyOf(MORE, more),
    ...(answer.trim() === '' ? {} : { answer }),
    ...(limit ? bodyOf([limit], { [limit.name]: raised }) : {}),
  };
}

export interface Limit extends Field {
  proposal: string;
}

/** The limit that the session stopped at. */
export function limitOf(card: Card): Limit | null {
  switch (card.stop_reason) {
    case 'iteration_limit':
      return {
        ...{ label: 'Iterations', name: 'maxIterations', kind: 'number' },
        proposal: String(card.max_iterations * 2),
      };
    case 'budget_cost':
      return {
        ...{ label: 'Budget, USD', name: 'budgetUsd', kind: 'usd' },
        proposal: String((card.budget_usd ?? 5) * 2),
      };
    case 'budget_tokens':
      return {
        ...{ label: 'Tokens', name: 'budgetTokens', kind: 'number' },
        proposal: String((card.budget_tokens ?? 0) * 2),
      };
    case 'budget_time':
      return {
        ...{ label: 'Time', name: 'timeLimit' },
        proposal: wholeDuration((card.time_limit_ms ?? 3_600_000) * 2),
      };
    default:
      return null;
  }
}
