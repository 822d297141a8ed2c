import type { CommandSpec, OptionSpec } from '../../../cli/command-spec.ts';
import { describeActions } from '../../../cli/operation-command.ts';
import { DETACH } from '../../../cli/session-options.ts';
import * as bead from '../operations/definitions.ts';

/** What each word after `pulse bead` does. */
export const BEAD_ACTIONS = {
  plan: bead.plan,
  create: bead.create,
  list: bead.list,
  show: bead.show,
  next: bead.next,
  graph: bead.graph,
  draft: bead.showPlan,
  update: bead.update,
  close: bead.close,
  scope: bead.scope,
  import: bead.importFile,
  export: bead.exportFile,
} as const;
export type BeadAction = keyof typeof BEAD_ACTIONS;
const NAMES = Object.keys(BEAD_ACTIONS) as BeadAction[];

/** Lists of commands are easier to type one by one. */
const COMMAND_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'verify',
    value: 'text',
    placeholder: 'CMD',
    isRepeated: true,
    help: 'create, update: A command that must pass. May be repeated.',
  },
  {
    name: 'expect',
    value: 'text',
    placeholder: 'E',
    isRepeated: true,
    help: 'create, update: What the --verify in the same place must give: a text, /a pattern/ or exit N (exit 0).',
  },
  {
    name: 'red',
    value: 'text',
    placeholder: 'CMD',
    help: 'create, update: Of tdd-required: the command that must fail before the work.',
  },
  {
    name: 'green',
    value: 'text',
    placeholder: 'CMD',
    help: 'create, update: Of tdd-required: the command that must pass after it.',
  },
  {
    name: 'red-expect',
    value: 'text',
    placeholder: 'E',
    help: 'create, update: Of tdd-required: what the failure must show.',
  },
];

export const beadCommand: CommandSpec = {
  name: 'bead',
  group: 'Coordinate',
  summary: 'Keep the work of a project as a graph of small pieces ("beads"), and see which comes next.',
  details:
    'plan GOAL [--out FILE]: an agent drafts an epic and its beads into a file; nothing is in the graph until you import it.\n' +
    'draft ID: what a session of plan has drafted, and every command in it.\n' +
    'create --title T --file F --verify CMD: makes a bead. Without files or commands it is blocked until it has them.\n' +
    'list: all beads. show ID: one of them.\n' +
    'next [--epic E] [--why]: the bead that comes next; it is not claimed by asking.\n' +
    'graph [--epic E]: each bead with its weight, and what waits for what.\n' +
    'update ID: what is given replaces what it has. close ID --reason R. scope ID --add F: it may change more files.\n' +
    'import FILE: a file of plan, .beads/issues.jsonl of br or bd, a Markdown check list, a prd.json, a tasks.json, or what gh issue ' +
    'list --json printed; all of it or nothing.\n' +
    'export FILE: all beads as such an issues.jsonl; without FILE to stdout.',
  arguments: [
    { name: 'ACTION', choices: NAMES, help: NAMES.join(', ') },
    {
      name: 'WHAT',
      isOptional: true,
      isSession: (input) => input.argument('ACTION') === 'draft',
      help: 'plan: the goal, in quotes. draft: the session, or last. show, update, close, scope: the bead’s id. import, export: the file.',
    },
  ],
  options: [...describeActions(BEAD_ACTIONS), ...COMMAND_OPTIONS, DETACH],
  examples: [
    'pulse bead plan "Dates can be entered in words"',
    'pulse bead create --title "Parse dates" --file src/dates.ts --verify "npm test" --priority 1',
    'pulse bead next --why',
    'pulse bead close shop-1a2b --reason "Completed: dates are parsed"',
    'pulse bead import .beads/issues.jsonl',
  ],
  load: () => import('./run.ts'),
};
