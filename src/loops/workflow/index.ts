/** The workflow: preflight once, then pulses one after the other, each ended by a judged completion. */
import type { IdSource } from '../../domain/ids.ts';
import type { Loop } from '../../engine/loop.ts';
import { appendEvents } from '../../store/events.ts';
import type { Session } from '../../store/sessions.ts';
import { type Db, type Store, storeNow } from '../../store/store.ts';
import { decideWorkflow } from './decide.ts';
import { abandonPulse, clearAbortedPulse, giveUpBeforeSettle, giveUpPulse } from './give-up.ts';
import type { ComposeKickoff } from './kickoff-brief.ts';
import { planWork } from './plan-work.ts';
import { createPreflightWork } from './preflight-work.ts';
import { createPulseWork } from './pulse-work.ts';
import type { PulseWorktree } from './pulse-worktree.ts';
import { findWorkflow, listPulses, movePulse } from './rows.ts';
import { settleWorkflow } from './settle.ts';
import { loadWorkflow, runningPulse, type WorkflowState } from './state.ts';

export interface WorkflowLoopOptions {
  store: Store;
  ids: IdSource;
  worktree: PulseWorktree;
  composeKickoff: ComposeKickoff;
  /** A preflight that takes longer has failed; by default 15 minutes. */
  preflightLimitMs?: number;
}

export function createWorkflowLoop(options: WorkflowLoopOptions): Loop<WorkflowState> {
  const { store, ids, worktree, composeKickoff, preflightLimitMs: limitMs } = options;
  return {
    kind: 'workflow',
    actions: ['open_pulse', 'baseline', 'give_up_pulse', 'abandon', 'merge', 'review'],
    works: [
      planWork,
      createPreflightWork({ worktree, store, ids, limitMs }),
      createPulseWork({ worktree, composeKickoff }),
    ],
    load: loadWorkflow,
    decide: decideWorkflow,
    steps: {
      abandon: { perform: (engine, context) => abandonPulse(engine, worktree, context) },
      give_up: { perform: (engine, context) => giveUpPulse(engine, worktree, context) },
    },
    // A pulse was judged on another tree.
    whenBranchMoved: 'begin_again',
    givesUpWorktree: ({ stop_reason: reason }) => reason === 'preflight_failed',
    hooks: {
      async isStale(db, { session, own }, { code }) {
        if (code !== 'invalid_transition') return false;
        return (await findWorkflow(db, session.id))?.plan_version !== own.workflow.plan_version;
      },
      beforeSettle: (engine, settling) => giveUpBeforeSettle(engine, worktree, settling),
      settle: settleWorkflow,
      abort: stopRunningPulse,
      // Its leftovers have a name by now.
      afterClose: (engine, state) => clearAbortedPulse(engine, worktree, state),
    },
  };
}

/** The running pulse ends with its workflow; the runner keeps its work and deletes its refs. */
async function stopRunningPulse(db: Db, { id: sessionId }: Session): Promise<void> {
  const workflow = (await findWorkflow(db, sessionId))!;
  const pulse = runningPulse({ pulses: await listPulses(db, workflow.id) });
  if (!pulse) return;
  const reason = 'aborted by a person';
  await movePulse(db, pulse, 'stopped', { failure_reason: reason, extension: null, ended_at: storeNow() });
  const data = { pulseId: pulse.id, plannedPulseId: pulse.planned_pulse_id, reason };
  await appendEvents(db, sessionId, [{ type: 'pulse.stopped', data }]);
}
