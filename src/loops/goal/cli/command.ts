import type { CommandSpec } from '../../../cli/command-spec.ts';
import { describeCommand } from '../../../cli/operation-command.ts';
import { DETACH } from '../../../cli/session-options.ts';
import { start } from '../operations/definitions.ts';

const described = describeCommand(start);

export const startCommand: CommandSpec = {
  ...described,
  group: 'Run',
  summary: 'Start a session and follow it to its end.',
  details:
    'An agent works towards the goal in a separate worktree, one iteration after the other, until it is done and ' +
    "Pulse's own verification agrees. Your checkout is not touched; the work is on a branch.\n" +
    'Ctrl-C asks: pause, detach or abort. Closing the terminal only detaches.\n' +
    'Exit codes: 0 complete, 1 failed, 3 blocked, 4 paused, 5 aborted, 2 wrong use, 130/143 interrupted.',
  arguments: described.arguments!.map((one) => ({
    ...one,
    isOptional: true,
    help: 'What should be done, in quotes; or --issue, or --from.',
  })),
  options: [...described.options!, DETACH],
  examples: [
    'pulse start "Implement user auth" --verify "npm test"',
    'pulse start "Fix the flaky tests" --command "./my-agent.sh" --max-iterations 5',
    'pulse start "Port the CLI" --budget-usd 25 --detach',
    'pulse start --issue 42 --verify "npm test" --comment',
    'pulse start --from task.md',
  ],
  load: () => import('./run.ts'),
};
