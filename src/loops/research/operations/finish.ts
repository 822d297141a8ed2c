/** What becomes of research that has ended: implement, pause, done. The session itself does not change. */
import { stringify } from 'yaml';
import { PulseError } from '../../../domain/errors.ts';
import type { Operations, TransactionHook } from '../../../operations/context.ts';
import { storeNow } from '../../../store/store.ts';
import { findingsOf, nextStepsOf } from '../report/findings.ts';
import { implementationPlan } from '../report/implementation.ts';
import { createResearchFiles, findingsInput } from '../report/research-files.ts';
import { replace, sessionPath } from '../report/research-paths.ts';
import { rowsOf } from '../report/result-rows.ts';
import { updateResearch } from '../rows.ts';
import { type ResearchRows, readResearch } from './research.ts';

export type FinishHow = 'implement' | 'pause' | 'done';

export interface Finish {
  how: FinishHow;
  actor: string;
  within?: TransactionHook;
}

export interface Finished extends ResearchRows {
  /** With `implement`: the plan's file and how to run it. */
  implementation: { plan: string; command: string; steps: number } | null;
}

const PHASES = { implement: 'implementing', pause: 'paused', done: 'complete' } as const;

export async function finishResearch(
  operations: Operations,
  id: string,
  { how, actor, within }: Finish,
): Promise<Finished> {
  const view = await readResearch(operations, id);
  const { session } = view;
  const { git } = operations;
  const { store } = operations.engine;
  const implementation = how === 'implement' ? await writePlan(operations, view) : null;
  await store.tx(
    'finish',
    async (db) => {
      await updateResearch(db, session.id, {
        phase: PHASES[how],
        finished_by: actor,
        finished_at: storeNow(),
        ...(implementation
          ? {
              implementation: `${implementation.steps} steps in ${implementation.plan}: ${implementation.command}`,
            }
          : {}),
      });
      await within?.(db, session.id);
    },
    { session: session.id },
  );
  await createResearchFiles({ store, git }).write(session.id);
  return { ...(await readResearch(operations, session.id)), implementation };
}

/** A workflow's plan that can be run as it is: writing it again is no error. */
async function writePlan(
  { engine: { store } }: Operations,
  { session, research, file, experiments }: ResearchRows,
): Promise<Finished['implementation']> {
  if (session.status === 'running' || session.status === 'pending') {
    throw new PulseError(
      'invalid_transition',
      `Session ${session.id} is still at it: its findings may change.`,
      {
        hint: `pulse pause ${session.id} first, or wait for its end.`,
      },
    );
  }
  const rows = rowsOf(session, research, experiments.toReversed());
  const found = await findingsInput(store, { session, research, rows });
  const steps = research.baseline === null ? [] : nextStepsOf(found);
  if (steps.length === 0) {
    throw new PulseError('invalid_transition', `Session ${session.id} has found nothing to implement.`, {
      hint: `pulse research finish ${session.id} --done closes it.`,
    });
  }
  const plan = implementationPlan({
    goal: file.goal,
    branch: session.branch_name,
    inScope: file.scope.inScope,
    guard: file.guard,
    findings: findingsOf(found),
    steps,
  });
  const path = sessionPath(session, 'plan.yaml');
  await replace(session, path, stringify(plan));
  return { plan: path, command: `pulse workflow start ${shellWord(path)}`, steps: steps.length };
}

/** To be typed as it stands. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
