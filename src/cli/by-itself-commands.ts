/** What runs without a word: planned starts, and the service that keeps `pulse serve` alive. */
import { addSchedule, listSchedules } from '../operations/schedule/definitions.ts';
import type { CommandSpec } from './command-spec.ts';
import { describeCommand } from './operation-command.ts';

export const BY_ITSELF_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'schedule',
    group: 'Run',
    summary: 'Start sessions by themselves: by a cron expression, "in 2h" or "at 22:00".',
    details:
      'add TIME -- ARGS: ARGS are those of start, workflow start, workflow plan, research start or swarm start; files ' +
      'that they name are read now. TIME is five cron fields (names, ranges, steps, lists), "in 2h", "at 22:00" or ' +
      '"at 2027-01-31 22:00", by the clocks of --zone.\n' +
      '`pulse serve` starts what is due, each time once. A time at which it was not there is told, and run once or ' +
      'skipped, as --missed says. One that is due while its last session still runs is started beside it. list shows what ' +
      'comes next, and for a day what is over; remove ID takes one back.',
    arguments: [
      { name: 'ACTION', choices: ['add', 'list', 'remove'], help: 'add, list, remove' },
      { name: 'WHAT', isOptional: true, help: 'The time for add, the id for remove.' },
      { name: 'ARGS', isOptional: true, isRepeated: true, help: 'What add starts, after --.' },
    ],
    options: [...describeCommand(addSchedule).options!, ...describeCommand(listSchedules).options!],
    examples: [
      'pulse schedule add "0 22 * * mon-fri" -- start "Fix the flaky tests" --verify "npm test"',
      'pulse schedule add "in 2h" -- workflow start plan.yaml --yes',
      'pulse schedule list',
      'pulse schedule remove 3f2c',
    ],
    isPersonOnly: true,
    load: () => import('./commands/schedule.ts'),
  },
  {
    name: 'service',
    group: 'Set up',
    summary: 'Keep `pulse serve --adopt` running, also after a reboot.',
    details:
      'install writes a systemd user unit (Linux) or a launchd agent (macOS) and starts it; what nobody runs continues, ' +
      'and what is planned is started. Run again, it brings the file up to date. remove stops it and deletes the file.',
    arguments: [{ name: 'ACTION', choices: ['install', 'remove'], help: 'install, remove' }],
    options: [
      { name: 'port', value: 'integer', placeholder: 'N', help: 'Listen on this port (3002).' },
      { name: 'no-start', help: 'Only write or delete the file.' },
    ],
    examples: ['pulse service install', 'pulse service remove'],
    isPersonOnly: true,
    load: () => import('./commands/keep-serving.ts'),
  },
];
