/** What is filled in, kept as a draft, and the request that it makes. */
import { useState } from 'react';
import { bodyOf, type Field } from '../ui/form.tsx';
import { numberOf } from '../ui/number.ts';

export type Kind = 'goal' | 'workflow' | 'research' | 'swarm';

export const KINDS: { name: Kind; label: string }[] = [
  { name: 'goal', label: 'Goal' },
  { name: 'workflow', label: 'Workflow' },
  { name: 'research', label: 'Research' },
  { name: 'swarm', label: 'Swarm' },
];

export const ROUTES: Record<Kind, string> = {
  goal: '/api/pulse/start',
  workflow: '/api/workflows',
  research: '/api/research',
  swarm: '/api/swarms',
};

const EMPTY = {
  goal: '',
  verify: '',
  plan: '',
  research: '',
  epic: '',
  workers: '',
  projectPath: '',
  agent: '',
  command: '',
  iterations: '',
  budgetUsd: '',
  timeLimit: '',
  base: '',
  trust: '',
  ...{ model: '', branch: '', projectName: '', budgetTokens: '', iterationTimeout: '', idleTimeout: '' },
  ...{ sandbox: '', checks: '', noBase: '', contextStrategy: '', anchorTurnId: '', issue: '', comment: '' },
  ...{
    setup: '',
    record: '',
    extensions: '',
    approve: '',
    parallel: '',
    standalone: '',
    coordinator: '',
    hint: '',
  },
};
export type Fields = typeof EMPTY;

const EVERY: Field[] = [
  { name: 'model', label: 'Model' },
  { name: 'branch', label: 'Branch' },
  { name: 'projectName', label: 'Name of the project' },
  { name: 'budgetTokens', label: 'Budget, tokens', kind: 'number' },
  { name: 'iterationTimeout', label: 'An iteration takes at most', placeholder: '1h' },
  { name: 'idleTimeout', label: 'An agent is silent at most', placeholder: '15m' },
  { name: 'sandbox', label: 'Sandbox', kind: 'choice', choices: ['off', 'auto', 'on'] },
  { name: 'record', label: 'Record no transcript', kind: 'flag' },
];
const OWN: Record<Kind, Field[]> = {
  goal: [
    { name: 'setup', label: 'Setup', kind: 'lines', hint: 'One command a line; empty: by the lockfile.' },
    {
      name: 'checks',
      label: 'A completion that changes checks',
      kind: 'choice',
      choices: ['ask', 'allow', 'forbid'],
    },
    {
      name: 'contextStrategy',
      label: 'Earlier context',
      kind: 'choice',
      choices: ['none', 'prefetch', 'mcp', 'hybrid'],
    },
    { name: 'anchorTurnId', label: 'Begin at the turn' },
    { name: 'issue', label: 'Issue', hint: 'Its number or address: its text joins the goal.' },
    { name: 'comment', label: 'Tell the issue how it ends', kind: 'flag' },
    { name: 'noBase', label: 'Do not run the checks first', kind: 'flag' },
  ],
  workflow: [
    {
      name: 'extensions',
      label: 'A pulse that asks for another run',
      kind: 'choice',
      choices: ['auto', 'ask'],
    },
    { name: 'approve', label: 'Approve the plan at once', kind: 'flag' },
  ],
  research: [{ name: 'parallel', label: 'Experiments at once', kind: 'number' }],
  swarm: [
    { name: 'coordinator', label: 'You are called' },
    { name: 'hint', label: 'A word to the workers', isWide: true },
    { name: 'standalone', label: 'One worker, beside no others', kind: 'flag' },
  ],
};

/** What most starts leave to the config. */
export function moreOf(kind: Kind): Field[] {
  return [...OWN[kind], ...EVERY];
}

const DRAFT = 'pulse.draft.start';

export function useFields(): [Fields, (name: keyof Fields, value: string) => void] {
  const [fields, setFields] = useState<Fields>(() => ({ ...EMPTY, ...stored() }));
  const set = (name: keyof Fields, value: string): void => {
    const next = { ...fields, [name]: value };
    setFields(next);
    sessionStorage.setItem(DRAFT, JSON.stringify(next));
  };
  return [fields, set];
}

function stored(): Partial<Fields> {
  try {
    return JSON.parse(sessionStorage.getItem(DRAFT) ?? '{}') as Partial<Fields>;
  } catch {
    return {};
  }
}

/** Throws where a part is no JSON, or no number. What is empty is left to the config and the defaults. */
export function inputOf(kind: Kind, fields: Fields): Record<string, unknown> {
  const shared = given({
    projectPath: fields.projectPath.trim(),
    agent: fields.agent,
    command: fields.command.trim(),
    timeLimit: fields.timeLimit.trim(),
    base: fields.base.trim(),
    budgetUsd: numberOf('Budget, USD', fields.budgetUsd, 'usd'),
    trust: fields.trust === 'yes' ? true : undefined,
    ...bodyOf(moreOf(kind), fields),
    record: fields.record === 'yes' ? false : undefined,
  });
  switch (kind) {
    case 'goal': {
      const verify = fields.verify.split('\n').filter((line) => line.trim() !== '');
      const own = { goal: fields.goal, verify: verify.length > 0 ? verify : undefined };
      const maxIterations = numberOf('Iterations', fields.iterations);
      return { ...shared, ...given({ ...own, maxIterations }) };
    }
    case 'workflow':
      return {
        ...shared,
        ...(fields.plan.trim() ? { plan: json('plan', fields.plan) } : { goal: fields.goal }),
      };
    case 'research':
      return {
        ...shared,
        research: json('research', fields.research),
        ...given({ iterations: numberOf('Experiments', fields.iterations) }),
      };
    default:
      return {
        ...shared,
        epic: fields.epic.trim(),
        ...given({ workers: numberOf('Workers', fields.workers) }),
      };
  }
}

function given(parts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== '' && value !== undefined));
}

function json(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The ${name} is no JSON: ${(error as Error).message}`);
  }
}
