/** Arguments and options that several commands about sessions share. */
import type { ArgumentSpec, OptionSpec } from './command-spec.ts';

export const SESSION: ArgumentSpec = {
  name: 'ID',
  isSession: () => true,
  help: 'A session: its id, four or more characters of its beginning or its end, or last.',
};

export const LIMITS: readonly OptionSpec[] = [
  { name: 'max-iterations', value: 'integer', placeholder: 'N', help: 'Stop after so many iterations (10).' },
  { name: 'budget-usd', value: 'usd', placeholder: 'X|none', help: 'Stop before more is spent (10 USD).' },
  { name: 'budget-tokens', value: 'integer', placeholder: 'N', help: 'Stop at so many tokens.' },
  { name: 'time-limit', value: 'duration', placeholder: 'D', help: 'Stop after so much running time (8h).' },
];
/** Who works, how its work is checked, how a worktree is prepared. */
export const WORK: readonly OptionSpec[] = [
  {
    name: 'agent',
    value: 'text',
    placeholder: 'NAME',
    help: 'Which agent works (default: the config, else the first installed).',
  },
  {
    name: 'command',
    value: 'text',
    placeholder: 'CMD',
    help: 'Run this shell command as the agent: brief on stdin, message on stdout.',
  },
  {
    name: 'model',
    value: 'text',
    placeholder: 'NAME',
    help: 'Which model the agent is asked to use (default: its own choice).',
  },
  {
    name: 'verify',
    value: 'text',
    placeholder: 'CMD',
    isRepeated: true,
    help: 'What must pass before "done" is believed. May be repeated.',
  },
  {
    name: 'setup',
    value: 'text',
    placeholder: 'CMD',
    isRepeated: true,
    help: 'What makes a fresh worktree usable (default: told by the lockfile). May be repeated.',
  },
];
export const TIMEOUTS: readonly OptionSpec[] = [
  {
    name: 'iteration-timeout',
    value: 'duration',
    placeholder: 'D',
    help: 'End an iteration after this time (60m).',
  },
  {
    name: 'idle-timeout',
    value: 'duration',
    placeholder: 'D',
    help: 'End it after this time without a sign of life (10m).',
  },
];
export const DETACH: OptionSpec = { name: 'detach', help: 'Return at once; the session goes on by itself.' };
