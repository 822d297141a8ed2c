import type { CommandSpec } from '../../../cli/command-spec.ts';
import { describeActions } from '../../../cli/operation-command.ts';
import { DETACH } from '../../../cli/session-options.ts';
import * as swarm from '../operations/swarm-definitions.ts';

/** What each word after `pulse swarm` does. */
const ACTIONS = {
  start: swarm.start,
  show: swarm.show,
  queue: swarm.queue,
  handoffs: swarm.handoffs,
  stop: swarm.stop,
  reassign: swarm.reassign,
} as const;
export type SwarmAction = keyof typeof ACTIONS;
const NAMES = Object.keys(ACTIONS) as SwarmAction[];

export const swarmCommand: CommandSpec = {
  name: 'swarm',
  group: 'Run',
  summary: 'Execute the beads of an epic with several workers, each bead verified and merged.',
  details:
    'start --epic E, or start E: workers take beads one after the other; each arrives on the branch as one commit.\n' +
    'show ID: the workers, and what became of each bead.\n' +
    'queue ID: the beads that wait to be merged, in their order. handoffs ID: what waits to be resumed.\n' +
    'stop ID: the workers are ended now, and the swarm is paused; `pulse resume ID` continues it.\n' +
    'reassign ID --from OWNER --to OWNER: what one worker left to be resumed is another’s; handoffs names those that wait.',
  arguments: [
    { name: 'ACTION', choices: NAMES, help: NAMES.join(', ') },
    {
      name: 'TARGET',
      isOptional: true,
      isSession: (input) => input.argument('ACTION') !== 'start',
      help: 'The epic for start, else the session: its id, a part of it, or last.',
    },
  ],
  options: [...describeActions(ACTIONS), DETACH],
  examples: [
    'pulse swarm start --epic app-1 --workers 4',
    'pulse swarm start --epic app-1 --standalone',
    'pulse swarm show last',
    'pulse swarm stop 3f2c',
  ],
  load: () => import('./swarm-run.ts'),
};
