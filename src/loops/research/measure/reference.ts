/**
 * What is known of the best so far when an experiment begins: its newest readings and the noise. Small, of fixed
 * size in a session of any length, and plain data, so that it can be stored with each decision.
 */
import * as z from 'zod';
import { mean, medianDistance, squaresAround, withoutStrays } from './statistics.ts';

/** How many readings of the best count, and how many one noise group has. */
export const WINDOW = 12;
/** That many equal readings of the baseline make a metric deterministic. */
const EQUAL_READINGS = 5;
/** Older groups are forgotten: noise changes with the machine and with the level of the metric. */
const GROUPS_KEPT = 4;
/** Variances of twelve readings each differ by more than this once in eighty times if the noise is the same. */
const OTHER_NOISE = 5;
/** Beyond so many standard deviations it is not the usual noise: another process, code that was not compiled yet. */
export const FAR = 6;
/** So many strays among a window's readings are left out; more are what the metric is like. */
const STRAYS_BORNE = 2;
/** Of normal noise: its standard deviation in median distances. */
const NORMAL = 1.4826;
/** Beyond this squares overflow. */
const LARGEST = 1e150;

const spreadSchema = z.object({ squares: z.number(), degrees: z.number() });

export const referenceSchema = z.object({
  mode: z.enum(['deterministic', 'noisy']),
  /** The newest readings of the best, the newest last. */
  window: z.array(z.number()).max(WINDOW),
  /** How many of them belong to no closed group yet. */
  open: z.number().int().nonnegative(),
  /** The noise inside each of the newest closed groups. */
  groups: z.array(spreadSchema).max(GROUPS_KEPT),
  /** Candidate readings since the best was last read; counted over experiments. */
  sinceBest: z.number().int().nonnegative(),
});
export type Reference = z.infer<typeof referenceSchema>;

export type BaselineStep =
  | { do: 'read' }
  | { do: 'begin'; reference: Reference }
  /** Too many readings were no numbers. */
  | { do: 'give_up' };

/** Five equal readings end the baseline; otherwise it takes a full window. */
export function nextBaselineStep(values: readonly number[]): BaselineStep {
  const readable = values.filter(isReadable);
  if (readable.length >= WINDOW || isSettledAtOnce(readable)) {
    return { do: 'begin', reference: readable.slice(0, WINDOW).reduce(withBestReading, EMPTY) };
  }
  return values.length - readable.length > WINDOW ? { do: 'give_up' } : { do: 'read' };
}

function isSettledAtOnce(values: readonly number[]): boolean {
  return values.length >= EQUAL_READINGS && values.every((value) => value === values[0]);
}

const EMPTY: Reference = { mode: 'deterministic', window: [], open: 0, groups: [], sinceBest: 0 };

/** One more reading of the best. A reading that differs from the others makes a deterministic session noisy for good. */
export function withBestReading(reference: Reference, value: number): Reference {
  const turnsNoisy = reference.mode === 'deterministic' && reference.window.some((known) => known !== value);
  const window = [...reference.window, value].slice(-WINDOW);
  // Groups from the quiet time would say that there is no noise.
  const groups = turnsNoisy ? [] : reference.groups;
  const open = turnsNoisy ? window.length : reference.open + 1;
  const mode = turnsNoisy ? 'noisy' : reference.mode;
  const extended = { mode, window, open, groups, sinceBest: 0 } as const;
  return open >= WINDOW ? closeGroup(extended) : extended;
}

export function withCandidateReading(reference: Reference): Reference {
  return { ...reference, sinceBest: reference.sinceBest + 1 };
}

/** The candidate is the best now: only its fresh readings stand for it, none that took part in choosing it. */
export function withNewBest(reference: Reference, fresh: readonly number[]): Reference {
  return withoutOtherNoise(fresh.reduce(withBestReading, { ...closeGroup(reference), window: [] }));
}

/** Noise often goes with the level: after a large step, groups that clearly had another noise are forgotten. */
function withoutOtherNoise(reference: Reference): Reference {
  const own = reference.groups.at(-1);
  if (!own || own.degrees < WINDOW - 1 || own.squares === 0) return reference;
  const varianceOf = ({ squares, degrees }: (typeof reference.groups)[number]): number => squares / degrees;
  const isAlike = (share: number): boolean => share < OTHER_NOISE && share > 1 / OTHER_NOISE;
  return {
    ...reference,
    groups: reference.groups.filter((group) => isAlike(varianceOf(group) / varianceOf(own))),
  };
}

/** What the best reads, strays left out. */
export function levelOf(reference: Reference): number {
  return mean(usualBests(reference.window, Math.sqrt(variance(reference))));
}

/** Of readings of the best, those that the usual noise explains. */
export function usualBests(values: readonly number[], sigma: number): readonly number[] {
  const most = STRAYS_BORNE * Math.max(1, Math.floor(values.length / WINDOW));
  return withoutStrays(values, { reach: FAR * sigma, most });
}

/** Variance of one reading, pooled within groups; 0 while nothing is known. */
export function variance({ window, open, groups }: Reference): number {
  const all = [...groups, openSpread({ window, open })];
  const degrees = all.reduce((total, group) => total + group.degrees, 0);
  return degrees === 0 ? 0 : all.reduce((total, group) => total + group.squares, 0) / degrees;
}

export function isReadable(value: number): boolean {
  return Number.isFinite(value) && Math.abs(value) <= LARGEST;
}

function closeGroup(reference: Reference): Reference {
  const { groups } = reference;
  const closed = openSpread(reference);
  const kept = closed.degrees === 0 ? groups : [...groups, closed].slice(-GROUPS_KEPT);
  return { ...reference, open: 0, groups: kept };
}

/** One stray among twelve would hide what is truly there for all experiments to come: it is no part of the noise. */
function openSpread({ window, open }: Pick<Reference, 'window' | 'open'>): z.infer<typeof spreadSchema> {
  const reach = FAR * NORMAL * medianDistance(window);
  const usual = window.length < WINDOW ? window : withoutStrays(window, { reach, most: STRAYS_BORNE });
  const values = window.slice(window.length - open).filter((value) => usual.includes(value));
  return { squares: squaresAround(values), degrees: Math.max(0, values.length - 1) };
}
