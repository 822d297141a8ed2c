/** What happens inside the run that drafts a plan: every fault of it is told at once, the last good one counts. */
import { isPulseError } from '../../domain/errors.ts';
import type { RunProtocol } from '../../engine/work.ts';
import { type Plan, parsePlan } from './plan.ts';
import { planTools } from './plan-tools.ts';
import type { WorkflowRun } from './work-data.ts';

const GIVEN = 'base and branch were given with the start: leave them out';

export function createPlanProtocol(): RunProtocol {
  let plan: Plan | null = null;
  const tools = planTools({
    propose(value) {
      try {
        const proposed = parsePlan(value);
        if (proposed.base !== undefined || proposed.branch !== undefined)
          return { ok: false, output: 'Not accepted yet.', reasons: [GIVEN] };
        plan = proposed;
        return {
          ok: true,
          output: `Noted: ${plan.pulses.length} pulses. A person approves it; end your run now.`,
        };
      } catch (error) {
        if (!isPulseError(error, 'invalid_plan')) throw error;
        return { ok: false, output: error.message, reasons: (error.hint ?? '').split('\n') };
      }
    },
  });
  return { tools, report: () => ({ own: { plan } satisfies WorkflowRun }) };
}
