/** A workflow that has only a goal: an agent drafts its plan, and a person approves it. */
import { planBrief } from '../context/kickoff.ts';
import { act } from './actions.ts';
import { plainBrief } from './brief-again.ts';
import { dispatchIteration } from './dispatch.ts';
import type { Engine } from './engine.ts';
import type { SessionState } from './loop.ts';

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

export async function dispatchPlan(
  { store, trace, ids }: Engine,
  { state, token }: { state: SessionState; token: number },
): Promise<void> {
  const { session, control } = state;
  await act(trace, 'dispatch', {
    perform: () =>
      store.tx(
        'dispatch',
        (db) =>
          dispatchIteration(db, {
            state,
            unit: 'plan',
            brief: plainBrief(planBrief(session.goal, control.answer)),
            token,
            ids,
            part: {
              role: 'planner',
              tools: PLAN_TOOLS,
              verifyOn: 'never',
              setup: [],
              work: { kind: 'plan' },
            },
          }),
        { session: session.id },
      ),
  });
}
