/** What becomes of a preflight: what its agent told, beside what Pulse saw itself. */
import type { RunReport } from '../domain/attempt.ts';
import { formatDuration } from '../domain/durations.ts';
import type { PreflightReport } from '../domain/workflow.ts';

export function tooLong(limitMs: number): string {
  return `it took longer than ${formatDuration(limitMs)}`;
}

export function withAgents(found: PreflightReport, run: RunReport | null): PreflightReport {
  if (!run) return found;
  const { preflight: told } = run;
  if (!told) return { ...found, error: found.error ?? 'the agent ended without preflight_done' };
  return {
    ...found,
    summary: told.summary,
    setupCommands: told.setupCommands,
    buildSuccess: told.buildSuccess,
    baseline: [...told.records, ...found.baseline],
  };
}
