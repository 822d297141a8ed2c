/** A workflow that has only a goal: an agent drafts its plan, and a person approves it. */

import { plainBrief } from '../../engine/runner/plain-brief.ts';
import type { WorkKind } from '../../engine/work.ts';
import { countedBrief } from '../shared/brief-tools.ts';
import { planBrief } from './kickoff-text.ts';
import { createPlanProtocol } from './plan-protocol.ts';
import { PLAN_UNIT } from './state.ts';
import { planWorkSchema } from './work-data.ts';

/** It may look and run commands; what it changes is thrown away. */
const PLAN_TOOLS = [
  'semantic_search',
  'read_file',
  'list_directory',
  'glob_search',
  'grep',
  'shell',
  'propose_plan',
  'pulse_signal',
  'report_usage',
];

export const planWork: WorkKind<{ kind: 'plan' }> = {
  kind: 'plan',
  read: (stored) => planWorkSchema.parse(stored),
  async plan(_, { state }) {
    const { session, control, recent } = state;
    return {
      unit: PLAN_UNIT,
      brief: await countedBrief({
        text: planBrief(session.goal, control.answer),
        strategy: control.settings.contextStrategy,
      }),
      recoversLast: recent[0]?.unit === PLAN_UNIT,
      part: { role: 'planner', tools: PLAN_TOOLS, verifyOn: 'never', setup: [], work: { kind: 'plan' } },
    };
  },
  composeRetryBrief: async (_, { live }) => plainBrief(live.task.task_content),
  keepsNothing: true,
  protocol: () => createPlanProtocol(),
};
