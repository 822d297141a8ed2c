/** What is filled in to make a bead, to take some over, and to have some drafted. */
import { pulse } from '../api/pulse.ts';
import type { Field } from '../ui/form.tsx';

export const CREATE: Field[] = [
  { name: 'title', label: 'Title', isRequired: true, isWide: true },
  { name: 'body', label: 'What is to be done', kind: 'area' },
  { name: 'id', label: 'Id', hint: 'Empty: one is made up.' },
  { name: 'type', label: 'Type', placeholder: 'task' },
  { name: 'priority', label: 'Priority', kind: 'number', placeholder: '2', hint: '0 is the most urgent.' },
  { name: 'epic', label: 'Epic' },
  { name: 'feature', label: 'Feature', hint: 'Of an epic: its folder in history.' },
  { name: 'labels', label: 'Labels', kind: 'words' },
  { name: 'dependencies', label: 'After these beads', kind: 'words' },
  { name: 'files', label: 'Files', kind: 'lines', hint: 'One path or pattern a line.' },
  { name: 'verify', label: 'Verify', kind: 'lines', hint: 'One command a line.' },
  {
    name: 'expect',
    label: 'What the commands must give',
    kind: 'lines',
    hint: 'One a line, for each command in turn: a text, /a pattern/ or exit N; - for none.',
  },
  { name: 'verification_evidence', label: 'Where its evidence is written' },
  { name: 'testing_mode', label: 'Testing mode', kind: 'choice', choices: ['standard', 'tdd-required'] },
  { name: 'red', label: 'Must fail first' },
  { name: 'redExpect', label: 'What that failure must show' },
  { name: 'green', label: 'Must pass then' },
  { name: 'decision_refs', label: 'Decisions to keep to', kind: 'words' },
  { name: 'learning_refs', label: 'Learnings to read', kind: 'lines', hint: 'One file a line.' },
  { name: 'changesChecks', label: 'Its work is to change checks', kind: 'flag' },
];
export const IMPORT: Field[] = [
  {
    name: 'content',
    label: 'Beads',
    kind: 'file',
    isRequired: true,
    hint: 'An issue file of br or bd, a draft, or a list of tasks.',
  },
  {
    name: 'format',
    label: 'Format',
    kind: 'choice',
    choices: ['issues', 'draft', 'markdown', 'ralph', 'task-master', 'github'],
  },
];
export const PLAN: Field[] = [
  { name: 'goal', label: 'Goal', kind: 'area', isRequired: true },
  { name: 'agent', label: 'Agent' },
  { name: 'model', label: 'Model' },
  { name: 'command', label: 'Command, instead of an agent', isWide: true },
  { name: 'out', label: 'File to write', placeholder: '.pulse/plans/…' },
  { name: 'base', label: 'Base branch' },
  { name: 'budgetUsd', label: 'Budget, USD', kind: 'usd' },
  { name: 'budgetTokens', label: 'Budget, tokens', kind: 'number' },
  { name: 'timeLimit', label: 'Time', placeholder: '8h' },
  { name: 'iterationTimeout', label: 'An iteration takes at most', placeholder: '1h' },
  { name: 'idleTimeout', label: 'An agent is silent at most', placeholder: '15m' },
  { name: 'sandbox', label: 'Sandbox', kind: 'choice', choices: ['off', 'auto', 'on'] },
  { name: 'trust', label: "Trust the repository's own config", kind: 'flag' },
];

type Bead = Parameters<typeof pulse.bead.create>[0];
interface Filled extends Omit<Bead, 'verify' | 'tdd_steps'> {
  verify?: string[];
  expect?: string[];
  red?: string;
  redExpect?: string;
  green?: string;
}

/** What does not fit together is sent as it is: Pulse says what is wrong with it. */
export function createBead(filled: Filled, call: Parameters<typeof pulse.bead.create>[1]) {
  const { verify, expect = [], red, redExpect, green, ...bead } = filled;
  const isTested = red !== undefined || redExpect !== undefined || green !== undefined;
  const checks = [...(verify ?? []), ...expect.slice(verify?.length ?? 0).map(() => '')];
  return pulse.bead.create(
    {
      ...bead,
      ...(checks.length > 0 ? { verify: checks.map((command, at) => checkOf(command, expect[at])) } : {}),
      ...(isTested ? { tdd_steps: { red, green, expect: redExpect } } : {}),
    } as Bead,
    call,
  );
}

function checkOf(command: string, expect = '-'): string | { command: string; expect: string } {
  return expect.trim() === '-' ? command : { command, expect: expect.trim() };
}
