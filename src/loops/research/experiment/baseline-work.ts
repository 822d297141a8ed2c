/** The first iteration of research: the metric as it is, read by Pulse alone. */
import { act } from '../../../engine/actions.ts';
import { unlessAborted } from '../../../engine/attempt/attempt.ts';
import { plainBrief } from '../../../engine/runner/plain-brief.ts';
import type { AttemptCourse, AttemptEnd, WorkKind, WorkRequest } from '../../../engine/work.ts';
import { BASELINE_UNIT, type Measurer } from '../measure/measure.ts';
import type { ResearchState } from '../state.ts';
import { type BaselineWork, baselineWorkSchema } from '../work-data.ts';
import { measureRequest } from './experiment-work.ts';

export function createBaselineWork(measurer: Measurer): WorkKind<BaselineWork> {
  return {
    kind: 'baseline',
    read: (stored) => baselineWorkSchema.parse(stored),
    async plan(_, { state }: WorkRequest<ResearchState>) {
      const { session, own } = state;
      return {
        unit: BASELINE_UNIT,
        brief: plainBrief('Baseline: the metric as it is before the first experiment.'),
        part: {
          role: 'baseline',
          tools: [],
          verifyOn: 'never',
          setup: own.file.setup ?? session.setup,
          work: { kind: 'baseline', request: measureRequest(own) } satisfies BaselineWork,
        },
      };
    },
    composeRetryBrief: async (_, { live }) => plainBrief(live.task.task_content),
    runsWithoutAgent: () => true,
    execute: (course) => readBaseline(course, measurer),
  };
}

/** No agent, no commit. */
async function readBaseline(course: AttemptCourse<BaselineWork>, measurer: Measurer): Promise<AttemptEnd> {
  const { engine, attempt, work, signal } = course;
  const setupFailure = await course.setUp();
  if (signal.aborted) return 'interrupted';
  if (setupFailure) return course.report(course.emptyResult(setupFailure));
  const measured = await unlessAborted(signal, () =>
    act(engine.trace, 'measure', { perform: () => measurer.baseline(attempt, work.request, signal) }),
  );
  if (measured === null) return 'interrupted';
  const own = { ...measured, host: engine.host };
  return course.report({ ...course.emptyResult(null), own, ownMs: measured.durationMs });
}
