/** Research as people and programs see it: camelCase, redacted, without what only the engine needs. */
import { redactJson } from '../../domain/redact.ts';
import type { Progress } from '../../research/progress.ts';
import type { Experiment, Research } from '../../store/research.ts';
import type { Session } from '../../store/sessions.ts';
import type { Operations } from '../context.ts';
import { readResearch } from './research.ts';

export type ExperimentView = ReturnType<typeof experimentView>;

export interface ResearchView {
  session: Session;
  research: ReturnType<typeof researchView>;
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
    research: researchView(research),
    experiments: experiments.map(experimentView),
    progress: { ...progress, baseline: research.baseline, metric: research.best },
    final: research.baseline === null ? [] : final,
  });
}

function researchView({ session_id, content, ...research }: Research) {
  return {
    sessionId: session_id,
    content: content as Record<string, unknown>,
    phase: research.phase,
    iterations: research.iterations,
    baseline: research.baseline,
    best: research.best,
    bestExperiment: research.best_experiment,
    implementation: research.implementation,
    finishedBy: research.finished_by,
    finishedAt: research.finished_at,
    createdAt: research.created_at,
  };
}

function experimentView(experiment: Experiment) {
  const { number, status, description, metric, delta, reason, crashes, runs, decision } = experiment;
  return {
    number,
    status,
    description,
    startSha: experiment.start_sha,
    commit: experiment.commit_hash,
    metric,
    delta,
    reason,
    crashes,
    runs,
    durationMs: experiment.duration_ms,
    decision: decision as Record<string, unknown> | null,
    startedAt: experiment.started_at,
    endedAt: experiment.ended_at,
  };
}
