/** The commands for what has ended. */
import * as after from '../operations/after/definitions.ts';
import type { CommandSpec } from './command-spec.ts';
import { describeCommand } from './operation-command.ts';
import { DETACH } from './session-options.ts';

const followed = describeCommand(after.follow);
const cleaned = describeCommand(after.clean);

export const AFTER_COMMANDS: readonly CommandSpec[] = [
  {
    ...describeCommand(after.merge),
    group: 'Finish',
    details:
      'ff moves the branch forward, merge makes a merge commit, squash one commit of the whole, pr pushes the branch and ' +
      'opens a pull request where `gh` is installed. A branch that is checked out is brought forward only where its ' +
      'checkout is clean. If the two conflict nothing is changed, and the command to run is printed.',
    examples: ['pulse merge last', 'pulse merge 3f2c --merge squash', 'pulse merge 3f2c --merge pr'],
    load: () => import('./commands/merge.ts'),
  },
  {
    ...followed,
    group: 'Finish',
    details:
      'The new session has the same branch and the same base, begins where the first one ended, and its context begins ' +
      'at what was said last. What was chosen for the first (agent, checks, limits) holds for it too, unless you say ' +
      'something else here. It is followed to its end.',
    options: [...followed.options!, DETACH],
    examples: [
      'pulse follow last "Also cover the empty list."',
      'pulse follow 3f2c "Rename the flag." --detach',
    ],
    load: () => import('./commands/follow.ts'),
  },
  {
    ...describeCommand(after.discard),
    group: 'Finish',
    details:
      'Says what goes and asks first. A session that could go on is ended with it; one that runs is refused. A branch ' +
      'that is checked out is refused too. What was pushed to a remote stays there. `pulse status ID` says how to get ' +
      'the work back.',
    options: [{ name: 'yes', help: 'Do not ask.' }],
    examples: ['pulse discard last', 'pulse discard 3f2c --yes'],
    load: () => import('./commands/discard.ts'),
  },
  {
    ...cleaned,
    group: 'Finish',
    details:
      'Of sessions that are complete or aborted. On a terminal it lists and asks; without one it only lists, unless --yes ' +
      'is given. A branch whose work is not in its base stays, unless --unmerged says otherwise; every branch that goes ' +
      'is kept for 30 days. Logs, recordings and what agents said go by themselves after 14 days.',
    options: [...cleaned.options!, { name: 'yes', help: 'Remove all that is listed, without asking.' }],
    examples: ['pulse clean', 'pulse clean --older-than 7d --yes'],
    load: () => import('./commands/clean.ts'),
  },
];
