/** `.context/research-sessions/<id>.json`, written on every keep and every fifth experiment. */
import * as z from 'zod';
import { DIRECTIONS } from '../measure/decision.ts';
import { isStatusDue } from './progress.ts';
import type { ResultRow } from './results.ts';

const SESSION_STATES = [
  'understanding',
  'planning',
  'researching',
  'implementing',
  'complete',
  'paused',
] as const;

const sessionIterationSchema = z.object({
  iteration: z.int().nonnegative(),
  commit: z.string().nullable(),
  metric: z.number().nullable(),
  delta: z.number().nullable(),
  status: z.enum(['baseline', 'keep', 'discard', 'crash']),
  description: z.string(),
  commanderTaskId: z.string().nullable(),
});

export const sessionFileSchema = z.object({
  id: z.string().min(1),
  status: z.enum(SESSION_STATES),
  goal: z.string(),
  metric: z.object({
    name: z.string(),
    direction: z.enum(DIRECTIONS),
    verifyCommand: z.string(),
    baseline: z.number().nullable(),
    /** The best so far. */
    final: z.number().nullable(),
    target: z.number().nullable(),
  }),
  scope: z.object({
    inScope: z.array(z.string()),
    readOnly: z.array(z.string()),
    outOfScope: z.array(z.string()),
  }),
  plan: z.string(),
  iterations: z.array(sessionIterationSchema),
  findings: z.string(),
  nextSteps: z.array(z.string()),
  implementation: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  workingDirectory: z.string(),
  tags: z.array(z.string()),
});
export type SessionFile = z.infer<typeof sessionFileSchema>;

export type SessionFacts = Omit<SessionFile, 'metric' | 'iterations'> & {
  metric: Omit<SessionFile['metric'], 'baseline' | 'final'>;
};

/** Baseline and final are read from the rows, so that the file and the log cannot disagree. */
export function sessionFile(facts: SessionFacts, rows: readonly ResultRow[]): SessionFile {
  const baseline = rows.find(({ status }) => status === 'baseline')?.metric ?? null;
  const final = rows.findLast(({ status }) => status === 'keep')?.metric ?? baseline;
  return sessionFileSchema.parse({
    ...facts,
    metric: { ...facts.metric, baseline, final },
    iterations: rows,
  });
}

export function isSessionFileDue(row: ResultRow): boolean {
  return row.status === 'baseline' || row.status === 'keep' || isStatusDue(row.iteration);
}
