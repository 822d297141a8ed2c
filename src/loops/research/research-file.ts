/** `research.yaml`: what a session pushes, how it is measured and what may change (docs/protocol/research.md, File). */
import * as z from 'zod';
import { parseDuration } from '../../domain/durations.ts';
import { isStorable, NOT_STORABLE } from '../../domain/storable.ts';
import { DIRECTIONS, type MinDelta } from './measure/decision.ts';

const MAX_ITERATIONS = 1_000_000;
const DEFAULT_TIMEOUT_MS = 10 * 60_000;

const text = z.string().trim().min(1, 'must not be empty').refine(isStorable, NOT_STORABLE);
const patterns = z.array(text);
const command = text;

const pattern = text.refine(isExpression, 'is not a regular expression');
/** `0.5` in the metric's unit, or `2%` of the best. */
const minDelta = z.union([z.number().nonnegative(), z.string().regex(/^\s*\d+(?:\.\d+)?\s*%\s*$/)], {
  error: 'must be a number not below 0, or a share such as 2%',
});
const duration = text.refine(isDuration, 'must be a duration such as 90s or 10m');

/** As it is given, in a file or over a surface. */
export const researchInputSchema = z.strictObject({
  goal: text,
  metric: z.strictObject({
    name: text,
    direction: z.enum(DIRECTIONS),
    verifyCommand: command,
    /** Its first group, or all of it, is the number; it must match exactly once. */
    pattern: pattern.optional(),
    target: z.number().optional(),
    min_delta: minDelta.optional(),
    /** HOME too is a fresh one for each measurement. */
    isolate: z.boolean().optional(),
  }),
  guard: command.optional(),
  /** Held out: asked only when a keep is near. */
  confirm: command.optional(),
  scope: z.strictObject({
    inScope: patterns.min(1, 'needs at least one pattern'),
    readOnly: patterns.optional(),
    outOfScope: patterns.optional(),
  }),
  strategy: z.array(text).optional(),
  iterations: z.int().min(1).max(MAX_ITERATIONS).optional(),
  /** Of the first measurement; later ones are held to what the earlier took. */
  timeout: duration.optional(),
  /** Makes a fresh checkout usable; absent: detected by lockfile. */
  setup: z.array(command).optional(),
});

const researchFileSchema = researchInputSchema.transform(({ metric, scope, strategy, timeout, ...rest }) => ({
  ...rest,
  metric: { ...metric, isolate: metric.isolate ?? false, min_delta: minDeltaOf(metric.min_delta) },
  scope: { ...scope, readOnly: scope.readOnly ?? [], outOfScope: scope.outOfScope ?? [] },
  strategy: strategy ?? [],
  timeout: timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(timeout),
}));

function minDeltaOf(given: number | string | undefined): MinDelta | undefined {
  if (given === undefined) return undefined;
  return typeof given === 'number'
    ? { unit: 'absolute', value: given }
    : { unit: 'relative', value: Number.parseFloat(given) / 100 };
}

export type ResearchFile = z.infer<typeof researchFileSchema>;

export type ResearchFileReading = { file: ResearchFile } | { problems: string[] };

/** From parsed YAML. Every violation is told at once. */
export function readResearchFile(content: unknown): ResearchFileReading {
  const read = researchFileSchema.safeParse(content);
  if (read.success) return { file: read.data };
  return { problems: read.error.issues.map(({ path, message }) => `${place(path)}: ${message}`) };
}

function place(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'research.yaml' : path.join('.');
}

function isExpression(source: string): boolean {
  try {
    new RegExp(source, 'gm');
    return true;
  } catch {
    return false;
  }
}

function isDuration(given: string): boolean {
  try {
    return parseDuration(given) > 0;
  } catch {
    return false;
  }
}
