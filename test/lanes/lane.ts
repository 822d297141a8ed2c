/**
 * Which cases this run does. A suite that has more of one kind than a newcomer should wait for draws some of them by a
 * seed. The lane `rest` does the others, or some of the others where a suite has hundreds that say nearly the same.
 * `all` does every case.
 */
import { createRandom } from '../fakes/random.ts';

export const LANES = ['fast', 'sample', 'rest', 'all'] as const;
export type Lane = (typeof LANES)[number];

export const LANE = laneOf(process.env.PULSE_TEST_LANE ?? 'sample');

/** `PULSE_TEST_SEED=… npm test` draws the same cases and repeats the same random runs. The set-up sets and prints it. */
export const SEED = Number(process.env.PULSE_TEST_SEED ?? 1);

/** Whether tests run here that have no cases to draw from: `rest` adds to a sample and does nothing again. */
export const IS_WHOLE = LANE !== 'rest';

/** Whether this run does what a sample leaves out. */
export const IS_MORE = LANE === 'rest' || LANE === 'all';

/** Whether this run does what takes longer than anybody waits for who changes something. */
export const IS_ALL = LANE === 'all';

export interface Draw<T> {
  /** Two suites with the same cases draw differently. */
  of: string;
  /** At least one of each kind is drawn, of the kinds that are drawn. */
  kind?(one: T): string;
  /** How many of the kinds are drawn at all: all of them, but for suites in which each kind costs seconds. */
  kindShare?: number;
  /** How much of each kind is drawn. */
  share?: number;
  /** 0: of few cases perhaps none is drawn, as often as the share says. */
  least?: 0 | 1;
  /** How much of the others the lane `rest` does. Only `all` does what is left then. */
  restShare?: number;
  lane?: Lane;
  seed?: number;
}

/** The cases that this lane does, in their order. */
export function draw<T>(
  cases: readonly T[],
  { of, kind = () => '', lane = LANE, seed = SEED, restShare = 1, ...sample }: Draw<NoInfer<T>>,
): T[] {
  if (lane === 'all') return [...cases];
  const random = createRandom(seed ^ hash(of));
  const kinds = [...Map.groupBy(cases.keys(), (index) => kind(cases[index]!)).values()];
  const { share = 0, kindShare = 1, least = 1 } = sample;
  const isDrawn = kindsDrawn(kinds.length, { kindShare, random });
  const drawn = new Set<number>();
  for (const [number, indexes] of kinds.entries()) {
    const shuffled = shuffle(indexes, random);
    const count = isDrawn(number) ? sizeOf(indexes.length * share, { least, random }) : 0;
    const others = shuffled.slice(count);
    const here =
      lane === 'rest' ? others.slice(0, Math.ceil(others.length * restShare)) : shuffled.slice(0, count);
    for (const index of here) drawn.add(index);
  }
  return cases.filter((_, index) => drawn.has(index));
}

function kindsDrawn(
  many: number,
  { kindShare, random }: { kindShare: number; random: () => number },
): (number: number) => boolean {
  if (kindShare >= 1) return () => true;
  const numbers = shuffle([...Array(many).keys()], random);
  const drawn = new Set(numbers.slice(0, Math.ceil(many * kindShare)));
  return (number) => drawn.has(number);
}

function sizeOf(wanted: number, { least, random }: { least: 0 | 1; random: () => number }): number {
  return least === 0 ? Math.floor(wanted + random()) : Math.max(least, Math.round(wanted));
}

/** How often a random property is tried: few times in a sample, and in the rest what is missing to many. */
export function runsOf(few: number, many: number): number {
  return seedsOf(few, many).length;
}

/** A seed for each random run. The first one is `SEED` itself, so that a run can be repeated by its own. */
export function seedsOf(few: number, many: number): number[] {
  const seeds = Array.from({ length: many }, (_, index) => SEED + index);
  return LANE === 'all' ? seeds : LANE === 'rest' ? seeds.slice(few) : seeds.slice(0, few);
}

/** What a sweep over many cases finds wrong. A copy without one of its guards has to fail only once. */
export async function sweep<T>(
  cases: Iterable<T>,
  { name, violationsOf }: { name(one: T): string; violationsOf(one: T): Promise<readonly string[]> },
): Promise<string[]> {
  const found: string[] = [];
  for (const one of cases) {
    const violations = await violationsOf(one);
    if (violations.length > 0) found.push(`${name(one)}: ${violations.join('; ')}`);
    if (found.length > 0 && process.env.PULSE_TEST_FIRST_VIOLATION) break;
  }
  return found;
}

function laneOf(name: string): Lane {
  const lane = LANES.find((one) => one === name);
  if (!lane) throw new Error(`PULSE_TEST_LANE=${name}: it is one of ${LANES.join(', ')}`);
  return lane;
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/** FNV-1a. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (const char of text) state = Math.imul(state ^ char.codePointAt(0)!, 0x01000193);
  return state >>> 0;
}
