/** What context adds to the command line. */
import type { CommandSpec } from '../../cli/command-spec.ts';
import { describeActions } from '../../cli/operation-command.ts';
import * as definitions from '../operations/definitions.ts';

/** What each word after `pulse context` does. */
export const CONTEXT_ACTIONS = {
  import: definitions.importTurns,
  search: definitions.searchTurns,
  code: definitions.searchCode,
  turns: definitions.listTurns,
  slice: definitions.createSlice,
} as const;
export type ContextAction = keyof typeof CONTEXT_ACTIONS;
const NAMES = Object.keys(CONTEXT_ACTIONS) as ContextAction[];

export const CONTEXT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'context',
    group: 'Look',
    summary: 'Look into what was said in this project, and into its code.',
    details:
      'import [FILE|DIR]…: read transcripts of Claude Code and Codex; without a path those that they keep of this ' +
      'repository. Reading again adds only what is new.\n' +
      'search WORDS: the turns that help with them, best first.\n' +
      'code WORDS: the places in the code that are about it, best first, and how much of it is indexed by now.\n' +
      'turns: all turns, oldest first.\n' +
      'slice TURN: the turns that belong to it.',
    arguments: [
      { name: 'ACTION', choices: NAMES, help: NAMES.join(', ') },
      {
        name: 'WHAT',
        isOptional: true,
        isRepeated: true,
        help: 'import: files and folders. search, code: the words. slice: the turn.',
      },
    ],
    options: describeActions(CONTEXT_ACTIONS),
    examples: [
      'pulse context import',
      'pulse context search "refresh token"',
      'pulse context code "where is a lease renewed"',
      'pulse context turns --json',
    ],
    load: () => import('./context.ts'),
  },
];
