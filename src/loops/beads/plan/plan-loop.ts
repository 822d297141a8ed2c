/** A goal becomes a file of beads: an agent drafts them, a person reads the file and imports it. */
import { join } from 'node:path';

import { act } from '../../../engine/actions.ts';
import type { Engine } from '../../../engine/engine.ts';
import type {
  HostStep,
  LiveIteration,
  Loop,
  SessionState,
  Step,
  Stop,
  Verdict,
} from '../../../engine/loop.ts';
import { budgetStop } from '../../../engine/runner/budget.ts';
import { ensureExcluded } from '../../../git/exclude.ts';
import { appendEvents } from '../../../store/events.ts';
import type { Store } from '../../../store/store.ts';
import { baseStep } from '../../shared/base-step.ts';
import { judgeFailure } from '../../shared/failures.ts';
import { loopSignal, stopBeforeNext } from '../../shared/verdict-parts.ts';
import { BEAD_PLAN } from './kind.ts';
import { createPlanWork, PLAN_UNIT, type PlanRun } from './plan-work.ts';
import { type BeadPlan, findPlan, keepDraft, markWritten } from './rows.ts';
import { writePlanFile } from './write-plan.ts';

declare module '../../../domain/events.ts' {
  interface LoopEventTypes {
    'beads.drafted': true;
  }
}

export interface BeadPlanState {
  plan: BeadPlan;
}

type State = SessionState<BeadPlanState>;

export function createBeadPlanLoop({ store }: { store: Store }): Loop<BeadPlanState> {
  return {
    kind: BEAD_PLAN,
    actions: ['write_plan'],
    works: [createPlanWork(store)],
    load: async (db, { session }) => ({ plan: (await findPlan(db, session.id))! }),
    decide,
    steps: { write_plan: { perform: writePlan } },
    hooks: {
      async settle(db, { state, verdict }) {
        if (verdict.change !== undefined) await keepDraft(db, state.session.id, verdict.change as PlanRun);
        return [];
      },
    },
  };
}

function decide(state: State): Step {
  const common = baseStep(state);
  if (common) return common;
  const { live, session, own } = state;
  if (live) return judge(state, live);
  const { draft, written_at: writtenAt } = own.plan;
  if (writtenAt !== null)
    return { do: 'end', stop: { status: 'complete', reason: 'completed', detail: null } };
  if (draft) return { do: 'host', name: 'write_plan', data: null };
  const budget = budgetStop(session);
  return budget ? { do: 'end', stop: budget } : { do: 'run', work: 'plan_beads' };
}

/** So many runs without a good draft; then a person is asked. */
const DRAFTS_IN_A_ROW = 3;

function judge(state: State, live: LiveIteration): Step {
  const result = live.task.result!;
  const failure = judgeFailure(state, live, result);
  if (failure) return failure;
  const { draft, faults } = (result.run?.own ?? { draft: null, faults: null }) as PlanRun;
  const tries = state.recent.filter(({ unit }) => unit === PLAN_UNIT).length + 1;
  const why = faults === null ? 'The agent proposed no beads.' : `The agent's draft is no good.\n${faults}`;
  const given: Stop = { status: 'blocked', reason: 'blocked_by_agent', detail: why };
  const verdict: Verdict = {
    ...loopSignal(draft ? 'COMPLETE' : 'CONTINUE'),
    status: 'complete',
    outcome: draft ? 'completed' : 'continued',
    reason: draft ? null : why,
    change: { draft, faults: draft ? null : why } satisfies PlanRun,
    stop: !draft && tries >= DRAFTS_IN_A_ROW ? given : stopBeforeNext(state),
  };
  return { do: 'settle', live, result, verdict };
}

/** The file first, then the row: done again after a crash, it finds its own file. */
async function writePlan(engine: Engine, { state, token }: HostStep<BeadPlanState>): Promise<void> {
  const { session, own } = state;
  const { draft, file: wanted } = own.plan;
  await act(engine.trace, 'write_plan', {
    async perform() {
      await ensureExcluded(session.project_path);
      const file = await writePlanFile(session.project_path, { file: wanted, draft: draft! });
      const path = join(session.project_path, file);
      await engine.store.tx(
        'write_plan',
        async (db) => {
          await markWritten(db, session.id, file);
          await appendEvents(db, session.id, [{ type: 'beads.drafted', data: { file, path, ...draft! } }], {
            token,
          });
        },
        { session: session.id },
      );
    },
  });
}
