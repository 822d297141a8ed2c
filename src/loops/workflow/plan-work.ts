/** A workflow that has only a goal: an agent drafts its plan, and a person approves it. */

import type { SessionState } from '../../engine/loop.ts';
import type { ComposedBrief } from '../../engine/ports.ts';
import type { WorkKind } from '../../engine/work.ts';
import { countedBrief } from '../shared/brief-tools.ts';
import { planBrief } from './kickoff-text.ts';
import { createPlanProtocol } from './plan-protocol.ts';
import { PLAN_UNIT } from './state.ts';
import { planWorkSchema } from './work-data.ts';

/** It may look and run commands; what it changes is thrown away. */
const PLAN_TOOLS = [
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
    return {
      unit: PLAN_UNIT,
      brief: await compose(state),
      recoversLast: state.recent[0]?.unit === PLAN_UNIT,
      part: { role: 'planner', tools: PLAN_TOOLS, verifyOn: 'never', setup: [], work: { kind: 'plan' } },
    };
  },
  composeRetryBrief: (_, { state }) => compose(state),
  keepsNothing: true,
  protocol: () => createPlanProtocol(),
};

function compose({ session, control }: Pick<SessionState, 'session' | 'control'>): Promise<ComposedBrief> {
  const text = planBrief(session.goal, control.answer);
  return countedBrief({ text, strategy: control.settings.contextStrategy });
}
