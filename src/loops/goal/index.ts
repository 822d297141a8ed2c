/** The goal loop: one run an iteration, ended by its signal, believed only after Pulse's own verification. */
import type { Loop } from '../../engine/loop.ts';
import type { WorkKind } from '../../engine/work.ts';
import type { ComposeBrief } from './brief.ts';
import { decideGoal, type GoalRequest } from './decide.ts';

export interface GoalLoopOptions {
  compose: ComposeBrief;
}

export function createGoalLoop({ compose }: GoalLoopOptions): Loop {
  return { kind: 'goal', works: [createRunWork(compose)], decide: decideGoal };
}

/** An ordinary run of the agent. It is the work of an attempt that names no other. */
function createRunWork(compose: ComposeBrief): WorkKind<null> {
  return {
    kind: 'run',
    read: () => null,
    async plan(_, { state, data }) {
      const { session, control, recent } = state;
      const { isDiagnostic, asksConfirmation }: GoalRequest = data;
      const brief = await compose({
        session,
        control,
        recent,
        iteration: session.current_iteration + 1,
        attempt: 1,
        recoveryRef: null,
        interruption: null,
        isDiagnostic,
        asksConfirmation,
      });
      return { unit: null, brief };
    },
    composeRetryBrief(_, { state, live, interruption: { attempt, recoveryRef, reason } }) {
      const { session, control, recent } = state;
      return compose({
        session,
        control,
        recent,
        iteration: live.iteration.iteration_number,
        attempt,
        recoveryRef,
        interruption: reason,
        isDiagnostic: false,
        asksConfirmation: false,
      });
    },
    asksForSignal: true,
  };
}
