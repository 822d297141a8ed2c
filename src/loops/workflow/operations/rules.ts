import { isDeepStrictEqual } from 'node:util';
import type { Operations } from '../../../operations/context.ts';
import type { LoopChange, LoopResume, LoopRules } from '../../../operations/loop-rules.ts';
import { findPreflight, findWorkflow } from '../rows.ts';
import { preparation, prepareAgain } from './plan.ts';

export const workflowRules: LoopRules = {
  // A stop gives the pulse up.
  isStoppedByRunner: true,
  changeOnResume,
};

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
