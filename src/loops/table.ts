/** The table of operations: those on every session, and what each loop contributes. All surfaces are made of it. */

import { contextOperations } from '../context/operations/operations.ts';
import {
  COORDINATION_INSTRUCTIONS,
  mailOperations,
  reservationOperations,
} from '../coordination/operations/operations.ts';
import { deviceOperations } from '../operations/access/operations.ts';
import { afterOperations } from '../operations/after/operations.ts';
import { dashboardOperations } from '../operations/dashboard/operations.ts';
import { machineOperations } from '../operations/machine/operations.ts';
import { notificationOperations } from '../operations/notify/operations.ts';
import { type AnyOperation, isOperation, type OperationGroup } from '../operations/operation.ts';
import { scheduleOperations } from '../operations/schedule/operations.ts';
import { sessionOperations } from '../operations/session/operations.ts';
import { BEAD_INSTRUCTIONS, beadOperations } from './beads/operations/operations.ts';
import { SWARM_INSTRUCTIONS, swarmOperations } from './beads/operations/swarm-operations.ts';
import { GOAL_INSTRUCTIONS, goalOperations } from './goal/operations/operations.ts';
import { commanderOperations } from './research/operations/commander-operations.ts';
import { RESEARCH_INSTRUCTIONS, researchOperations } from './research/operations/operations.ts';
import { WORKFLOW_INSTRUCTIONS, workflowOperations } from './workflow/operations/operations.ts';

export const OPERATIONS = {
  ...goalOperations,
  ...sessionOperations,
  ...afterOperations,
  ...dashboardOperations,
  ...machineOperations,
  workflow: workflowOperations,
  research: researchOperations,
  commander: commanderOperations,
  bead: beadOperations,
  swarm: swarmOperations,
  context: contextOperations,
  mail: mailOperations,
  reservations: reservationOperations,
  notifications: notificationOperations,
  device: deviceOperations,
  schedule: scheduleOperations,
};

/** In the order of the table. */
export function listOperations(table: OperationGroup = OPERATIONS): AnyOperation[] {
  return Object.values(table).flatMap((entry) => (isOperation(entry) ? [entry] : listOperations(entry)));
}

/** What an assistant is told before it sees the tools. */
export const INSTRUCTIONS = [
  'Pulse runs coding agents in loops, each session in its own worktree, until the goal is done and verified.',
  GOAL_INSTRUCTIONS,
  WORKFLOW_INSTRUCTIONS,
  RESEARCH_INSTRUCTIONS,
  BEAD_INSTRUCTIONS,
  SWARM_INSTRUCTIONS,
  COORDINATION_INSTRUCTIONS,
].join(' ');
