/** What becomes of a preflight: what its agent told, beside what Pulse saw itself. */
import { formatDuration } from '../../domain/durations.ts';
import type { PreflightReport } from './model.ts';
import type { WorkflowRun } from './work-data.ts';

export function tooLong(limitMs: number): string {
  return `it took longer than ${formatDuration(limitMs)}`;
}

/** What an agent said of its own preflight, beside what Pulse saw. */
export function withAgents(found: PreflightReport, { preflight: told }: WorkflowRun): PreflightReport {
  if (!told) return { ...found, error: found.error ?? 'the agent ended without preflight_done' };
  return {
    ...found,
    summary: told.summary,
    setupCommands: told.setupCommands,
    buildSuccess: told.buildSuccess,
    baseline: [...told.records, ...found.baseline],
  };
}
