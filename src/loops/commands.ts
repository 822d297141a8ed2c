/** What each loop adds to the command line. */
import type { CommandSpec } from '../cli/command-spec.ts';
import { beadCommand } from './beads/cli/command.ts';
import { swarmCommand } from './beads/cli/swarm-command.ts';
import { startCommand } from './goal/cli/command.ts';
import { researchCommand } from './research/cli/command.ts';
import { workflowCommand } from './workflow/cli/command.ts';

export const LOOP_COMMANDS: readonly CommandSpec[] = [
  startCommand,
  workflowCommand,
  researchCommand,
  beadCommand,
  swarmCommand,
];
