/** A swarm under deaths and stalls at every point, lost rings, and agents in trouble: every bead arrives once. */
import { describe, expect, it } from 'vitest';
import { listMessages } from '../../src/coordination/mail/read-messages.ts';
import { listReservations } from '../../src/coordination/reservations/held.ts';
import { CRASH_SIDES } from '../../src/engine/actions.ts';
import { listBeads } from '../../src/loops/beads/graph/rows.ts';
import { listTries } from '../../src/loops/beads/worker/rows.ts';
import { readEvents } from '../../src/store/events.ts';
import { findSession, listChildren } from '../../src/store/sessions.ts';
import {
  type BeadTrouble,
  isRed,
  isUnplanned,
  type SimulatedBead,
  swarmScript,
} from '../fakes/bead-world.ts';
import { fakeLoopList } from '../fakes/loops.ts';
import { createRandom } from '../fakes/random.ts';
import { type Fate, type Simulated, type SimulationOptions, simulate } from '../fakes/simulation.ts';
import { attemptsOf, type World } from '../fakes/world.ts';
import { draw, IS_ALL, IS_WHOLE, SEED, sweep } from '../lanes/lane.ts';
import { surviveSuite } from './loop-suite.ts';

const BEADS: SimulatedBead[] = [
  ...[{ id: 'red-a' }, { id: 'red-b' }, { id: 'full' }, { id: 'last', needs: ['red-a', 'full'] }],
  // The two have one file in truth, and name two: so they are at work at once.
  ...[{ id: 'clash-a' }, { id: 'clash-b' }],
  // The one breaks what verifies the other, and does not see it by what verifies itself.
  ...[{ id: 'keep' }, { id: 'spoil' }],
];

/** What must survive at each single point is as short as can be. */
const FEW: SimulatedBead[] = [{ id: 'red-a' }, { id: 'red-b' }, { id: 'full' }, { id: 'over' }];

/** A worker is lost, and a bead goes back to planning. */
const UNLUCKY: SimulatedBead[] = [{ id: 'lose' }, { id: 'unplanned' }];

interface Run extends Pick<SimulationOptions, 'fate' | 'bell' | 'isFleet' | 'stopsAt'> {
  beads?: readonly SimulatedBead[];
  workers?: number;
  trouble?: () => BeadTrouble | null;
}

async function run({ beads = BEADS, workers = 3, trouble = () => null, ...options }: Run) {
  const session = { kind: 'beads', budget_usd: 1_000, max_iterations: 1_000_000, verify: [], setup: null };
  const swarm = { beads, workers };
  const simulated = await simulate({ script: swarmScript(trouble), session, swarm, ...options });
  const violations = await violationsOf(simulated, beads);
  await simulated.store.close();
  return { ...simulated, violations };
}

async function violationsOf(
  { world, store, sessionId, isStuck }: Simulated,
  planned: readonly SimulatedBead[],
): Promise<string[]> {
  const found = [...world.violations];
  const check = (holds: boolean, what: string): void => void (holds || found.push(what));
  check(!isStuck, 'the session never ended');
  const { session, workers, beads, tries, events, reservations, mail } = await store.read(async (db) => ({
    session: (await findSession(db, sessionId))!,
    workers: await listChildren(db, sessionId),
    beads: (await listBeads(db, 'project')).filter(({ type }) => type !== 'epic'),
    tries: await listTries(db, sessionId),
    events: await readEvents(db, sessionId, { limit: 100_000 }),
    reservations: await listReservations(db, { project: 'project' }),
    mail: await listMessages(db, { project: 'project', limit: 100_000 }),
  }));
  const isLossy = planned.some(({ id }) => id.startsWith('lose'));
  const bounced = planned.map(({ id }) => id).filter(isUnplanned);
  const ended = bounced.length > 0 ? 'blocked unresolved_issues' : 'complete completed';
  check(
    `${session.status} ${session.stop_reason}` === ended,
    `${session.status} ${session.stop_reason} ${session.blocked_reason}`,
  );
  const expected = planned
    .map(({ id }) => id)
    .filter((id) => !isUnplanned(id))
    .toSorted();
  const told = events.filter(({ type }) => type === 'bead.closed').map(({ data }) => String(data.bead));
  check(told.toSorted().join() === expected.join(), `closed ${told}`);
  for (const { id, status, claim } of beads)
    check(
      status === (isUnplanned(id) ? 'blocked' : 'closed') && claim === null,
      `${id} is ${status}, claimed by ${claim?.worker}`,
    );
  for (const id of bounced) {
    const said = mail.filter(({ subject }) => subject === `${id} needs planning`).length;
    check(said === 1, `the coordinator heard of ${id} ${said} times`);
    const tried = tries.filter(({ bead_id }) => bead_id === id).map(({ status }) => status);
    check(tried.join() === 'blocked', `the tries of ${id}: ${tried}`);
  }
  const chain = chainOf(world, session.branch_name);
  check(
    chain
      .map(({ bead }) => bead)
      .toSorted()
      .join() === expected.join(),
    `commits of ${chain.map(({ bead }) => bead)}`,
  );
  for (const { sha, content } of chain) check(!isRed(content), `${sha} is red: ${content}`);
  for (const id of expected) {
    const closed = tries.filter(({ bead_id, status }) => bead_id === id && status === 'closed');
    check(closed.length === 1, `${id} has ${closed.length} closed tries`);
    const { sha } = chain.find(({ bead }) => bead === id) ?? {};
    check(closed[0]?.commit_sha === sha, `${id} has ${closed[0]?.commit_sha}, the branch ${sha}`);
  }
  check(!tries.some(({ status }) => status === 'working' || status === 'accepted'), 'a try is open');
  check(
    events.every((event, index) => event.seq === index + 1),
    'the events have a gap',
  );
  check(
    workers.every(({ status }) => ['complete', 'aborted', ...(isLossy ? ['failed'] : [])].includes(status)),
    `workers ${workers.map(({ status }) => status)}`,
  );
  check(session.total_commits === expected.length, `total_commits ${session.total_commits}`);
  check(session.reserved_usd < 1e-9, `reserved ${session.reserved_usd}`);
  check(reservations.length === 0, `reserved ${reservations.map(({ path }) => path)}`);
  check(![...world.refs.keys()].some((ref) => ref.startsWith('wip/')), `refs ${[...world.refs.keys()]}`);
  check(attemptsOf(world).length === 0, 'an attempt ref is left');
  if (session.status === 'complete')
    check(world.worktrees.size === 0, `worktrees ${[...world.worktrees.keys()]}`);
  check(![...world.agents].some((agent) => agent.isAlive), 'an agent is still alive');
  return found;
}

/** Oldest first: each commit of the branch, and the bead that it is of. */
function chainOf(world: World, branch: string): { sha: string; bead: string; content: string }[] {
  const chain: { sha: string; bead: string; content: string }[] = [];
  for (let sha = world.branches.get(branch) ?? 'base'; sha !== 'base'; ) {
    const { parent, content } = world.commits.get(sha)!;
    const before = world.commits.get(parent!)!.content;
    const added = content.slice(before.length).split(',').filter(Boolean);
    const beads = new Set(added.map((one) => one.replace(/\.\d+$/, '')));
    chain.unshift({
      sha,
      content,
      bead: content.startsWith(before) ? [...beads].join('+') : `lost ${before}`,
    });
    sha = parent!;
  }
  return chain;
}

describe('a simulated swarm', () => {
  it.runIf(IS_WHOLE)('brings every bead onto the branch, one after the other', async () => {
    const { violations, points } = await run({ fate: () => null });
    expect(violations).toEqual([]);
    expect(points).toContain('commit again');
    const passed = new Set<string>(points);
    const { actions = [] } = fakeLoopList().find(({ kind }) => kind === 'beads')!;
    const unlucky = await run({ fate: () => null, beads: UNLUCKY, workers: 2 });
    expect(unlucky.violations).toEqual([]);
    for (const point of unlucky.points) passed.add(point);
    const own = actions.flatMap((name) => CRASH_SIDES.map((side) => `${name}:${side}`));
    expect(own.filter((point) => !passed.has(point))).toEqual([]);
  });
});

surviveSuite({
  name: 'a simulated swarm',
  run: (fate) => run({ fate, beads: FEW, workers: 2 }),
  ...{ near: 2, randomRuns: { few: 4, many: 20 }, stride: 7 },
  kindOf: (point) => point.replace(/:(before|after)$/, ''),
});

surviveSuite({
  name: 'a simulated swarm that loses a worker and a bead',
  run: (fate) => run({ fate, beads: UNLUCKY, workers: 2 }),
  ...{ near: 2, randomRuns: { few: 2, many: 20 }, stride: 7 },
  kindOf: (point) => point.replace(/:(before|after)$/, ''),
});

describe('a simulated swarm that a person stops and resumes', () => {
  it('continues where it was, stopped at any point', { timeout: 600_000 }, async () => {
    const short = { beads: FEW, workers: 2, fate: () => null };
    const cases = (await run(short)).points.map((point, at) => ({ point, at }));
    const kind = ({ point }: { point: string }) => point.replace(/:(before|after)$/, '');
    const failures = await sweep(draw(cases, { of: 'swarm stopped', kind, kindShare: 1 / 2 }), {
      name: ({ at, point }) => `${at} ${point}`,
      violationsOf: async ({ at }) =>
        (await run({ ...short, stopsAt: (_, index) => index === at })).violations,
    });
    expect(failures).toEqual([]);
  });
});

/** Of these a process passes one at a time: each may be its last. */
const MANY_STEPS = { few: 10_000, many: 1_000_000 };

describe('a simulated swarm with everything against it', () => {
  const few = { steps: MANY_STEPS.few, first: SEED };
  it.runIf(IS_WHOLE)(
    `violates nothing in ${few.steps} steps (from PULSE_TEST_SEED=${few.first})`,
    { timeout: 600_000 },
    () => violatesNothing(few),
  );

  const many = { steps: MANY_STEPS.many, first: SEED + 1_000 };
  it.runIf(IS_ALL)(
    `violates nothing in ${many.steps} steps (from PULSE_TEST_SEED=${many.first})`,
    { timeout: 3_600_000 },
    () => violatesNothing(many),
  );
});

it.runIf(IS_WHOLE)(
  'a bead in flight is continued, although a resume has brought back a worker that had died',
  async () => {
    const { violations } = await run(troubleOf(108_015));
    expect(violations).toEqual([]);
  },
);

async function violatesNothing({ steps, first }: { steps: number; first: number }): Promise<void> {
  let passed = 0;
  for (let seed = first; passed < steps; seed++) {
    const { points, violations } = await run(troubleOf(seed));
    expect(violations, `PULSE_TEST_SEED=${seed}`).toEqual([]);
    passed += points.length;
  }
}

/** Workers, beads, faults, stops, rings and agents, all by the seed. Trouble ends, so that the swarm can. */
function troubleOf(seed: number): Run {
  const random = createRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const count = 4 + pick(6);
  const shapes = ['plain', 'plain', 'red', 'clash', 'keep', 'full', 'over', 'lose', 'unplanned'];
  const beads = Array.from({ length: count }, (_, index): SimulatedBead[] => {
    const shape = shapes[pick(shapes.length)]!;
    if (shape === 'red' || shape === 'clash')
      return ['a', 'b'].map((half) => ({ id: `${shape}${index}-${half}` }));
    if (shape === 'keep') return [{ id: `keep${index}` }, { id: `spoil${index}` }];
    return [{ id: `${shape}${index}`, ...(index > 0 && random() < 0.3 ? { file: 'shared.txt' } : {}) }];
  }).flat();
  for (const [index, bead] of beads.entries()) {
    const before = beads.slice(0, index).filter(({ id }) => !isUnplanned(id));
    if (before.length > 0 && random() < 0.25) bead.needs = [before[pick(before.length)]!.id];
  }
  let faults = 4 + pick(8);
  let troubles = pick(5);
  let stops = pick(3);
  const kinds: Fate[] = ['die', 'die', 'die', 'stall', 'nap', 'startle', 'doze'];
  const rate = 0.005 + random() * 0.04;
  // A swarm gives up where more than three workers die in one's place.
  const fewest = Math.ceil(beads.filter(({ id }) => id.startsWith('lose')).length / 3);
  return {
    ...{ beads, workers: Math.max(1 + pick(5), fewest) },
    isFleet: false,
    fate() {
      if (faults === 0 || random() > rate) return null;
      faults -= 1;
      return kinds[pick(kinds.length)]!;
    },
    stopsAt() {
      if (stops === 0 || random() > rate) return false;
      stops -= 1;
      return true;
    },
    bell: () => (random() < 0.9 ? 'ring' : random() < 0.5 ? 'lose' : 'double'),
    trouble() {
      if (troubles === 0 || random() > 0.3) return null;
      troubles -= 1;
      return (['crashes', 'stalls', 'says nothing'] as const)[pick(3)]!;
    },
  };
}
