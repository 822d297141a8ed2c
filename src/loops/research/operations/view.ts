/** Research as people and programs see it: camelCase, redacted, without what only the engine needs. */
import type * as z from 'zod';
import { redactJson } from '../../../domain/redact.ts';
import type { Operations } from '../../../operations/context.ts';
import { viewRow } from '../../../operations/row-view.ts';
import type { Session } from '../../../store/sessions.ts';
import type { Progress } from '../report/progress.ts';
import type { Experiment as ExperimentRow } from '../rows.ts';
import { readResearch } from './research.ts';
import { Experiment, Research } from './view-schema.ts';

export type ExperimentView = z.output<typeof Experiment>;

export interface ResearchView {
  session: Session;
  research: z.output<typeof Research>;
  /** Oldest first. */
  experiments: ExperimentView[];
  /** `baseline` and `metric` are `null` before the baseline is measured. */
  progress: Omit<Progress, 'baseline' | 'metric'> & { baseline: number | null; metric: number | null };
  final: string[];
}

export async function viewResearch(operations: Operations, id: string): Promise<ResearchView> {
  const { session, research, experiments, progress, final } = await readResearch(operations, id);
  return redactJson({
    session,
    research: viewRow(Research, research),
    experiments: experiments.map(viewExperiment),
    progress: { ...progress, baseline: research.baseline, metric: research.best },
    final: research.baseline === null ? [] : final,
  });
}

export function viewExperiment(experiment: ExperimentRow): ExperimentView {
  return viewRow(Experiment, { ...experiment, commit: experiment.commit_hash });
}
