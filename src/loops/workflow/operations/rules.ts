import { isDeepStrictEqual } from 'node:util';
import { type IdSource, uuidv7 } from '../../../domain/ids.ts';
import type { Operations } from '../../../operations/context.ts';
import type { LoopChange, LoopResume, LoopRules } from '../../../operations/loop-rules.ts';
import type { Session } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
import { findPreflight, findWorkflow, insertPulse, listPulses } from '../rows.ts';
import { preparation, prepareAgain } from './plan.ts';

export const workflowRules: LoopRules = {
  // A stop gives the pulse up.
  isStoppedByRunner: true,
  changeOnResume,
  decideChecks,
  async branches(db, session) {
    const workflow = await findWorkflow(db, session.id);
    const pulses = workflow ? await listPulses(db, workflow.id) : [];
    return pulses.flatMap(({ pulse_branch: branch }) => branch ?? []);
  },
};

/** The pulse has landed. Rejected, it is begun again, in a row of its own: the next commit mends it. */
async function decideChecks(
  db: Db,
  session: Session,
  { verdict, ids }: { verdict: 'accepted' | 'rejected'; ids: IdSource },
): Promise<void> {
  if (verdict === 'accepted') return;
  const workflow = (await findWorkflow(db, session.id))!;
  const pulses = await listPulses(db, workflow.id);
  const last = pulses.findLast(({ status }) => status === 'succeeded');
  if (!last) return;
  await insertPulse(db, {
    id: `pul_${uuidv7(ids)}`,
    workflowId: workflow.id,
    plannedPulseId: last.planned_pulse_id,
    position: Math.max(...pulses.map(({ position }) => position)) + 1,
    title: last.title,
    comments: last.comments,
  });
}

/** What has been prepared stays unless something else is asked for. */
async function changeOnResume(
  operations: Operations,
  { session, asked, config }: LoopResume,
): Promise<LoopChange | null> {
  const { workflow, preflight } = await operations.engine.store.read(async (db) => {
    const found = (await findWorkflow(db, session.id))!;
    return { workflow: found, preflight: await findPreflight(db, found.id) };
  });
  if (preflight?.status === 'completed' && !asked.verify && !asked.setup) return null;
  const { setup: preflightSteps = workflow.plan.preflight } = asked;
  const verify =
    asked.verify?.map((command) => ({ command, source: 'Test' as const })) ?? workflow.plan.verify;
  const plan = { ...workflow.plan, preflight: preflightSteps, verify };
  const { project_path: root, base_sha: base } = session;
  const to = await preparation(operations, { root, base, plan, values: config.values });
  if (isDeepStrictEqual(to, { checks: workflow.checks, steps: workflow.setup_steps })) return null;
  return {
    changed: { preflight: { from: null, to } },
    apply: (db) => prepareAgain(db, workflow.id, to),
  };
}
