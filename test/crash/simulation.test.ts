import { describe, expect, it } from 'vitest';
import { crashPoints } from '../../src/engine/actions.ts';
import { findSession } from '../../src/store/sessions.ts';
import { fakeLoopList } from '../fakes/loops.ts';
import { workflowScript } from '../fakes/pulse-world.ts';
import { createRandom } from '../fakes/random.ts';
import { type Fate, simulate, violationsOf } from '../fakes/simulation.ts';
import type { AgentScript } from '../fakes/world.ts';
import { draw, IS_WHOLE, seedsOf, sweep } from '../lanes/lane.ts';
import { passedInReview } from './kill-review.ts';
import { pointsOf } from './loop-suite.ts';

/** Works for `count` iterations; the last but one is rejected, and the last one has changed a check that still holds. */
function scriptOf(count: number): AgentScript {
  const finalMessage = 'All of it.\n<signal>COMPLETE</signal>';
  return (iteration) => {
    if (iteration < count - 1) return {};
    if (iteration < count) return { finalMessage, verifies: false };
    return { finalMessage, oldChecks: 'hold', opinion: 'accept' };
  };
}

async function run(count: number, fates: ReadonlyMap<number, Fate>, isFleet = false) {
  const script = scriptOf(count);
  const simulated = await simulate({ script, isFleet, fate: (_, index) => fates.get(index) ?? null });
  const violations = await violationsOf(simulated, count, { isFleet });
  await simulated.store.close();
  return { ...simulated, violations };
}

/** After so many points a death has been repaired. */
const NEAR = 8;

/** A successor stalled about to take back an attempt; its holder came back, reported and moved the head. */
const ONCE_FOUND = 1_795_026_153;

async function runAtRandom(seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const isFleet = random() < 0.3;
  let trouble = 12;
  const simulated = await simulate({
    script: scriptOf(4),
    isFleet,
    fate() {
      if (trouble === 0 || random() > 0.04) return null;
      trouble -= 1;
      return random() < 0.7 ? 'die' : random() < 0.5 ? 'stall' : 'nap';
    },
    bell: () => (random() < 0.2 ? 'lose' : random() < 0.2 ? 'double' : 'ring'),
    onTick(jump) {
      if (random() < 0.002) jump((random() - 0.3) * 3_600_000);
    },
  });
  const violations = await violationsOf(simulated, 4, { isFleet });
  await simulated.store.close();
  return violations;
}

describe('a simulated session', () => {
  it.runIf(IS_WHOLE)('ends complete with one commit an iteration when nothing goes wrong', async () => {
    const { violations, world, processes } = await run(3, new Map());
    expect(violations).toEqual([]);
    expect(world.finishedRuns).toEqual([1, 2, 3]);
    expect(processes).toBe(1);
  });

  it.runIf(IS_WHOLE)('survives a death at every point it passes', async () => {
    const { points } = await run(3, new Map());
    const failures = await sweep(pointsOf(points), {
      name: ({ at, point }) => `${at} ${point}`,
      violationsOf: async ({ at }) => (await run(3, new Map([[at, 'die']]))).violations,
    });
    expect(failures).toEqual([]);
  });

  it.runIf(IS_WHOLE)('runs an agent again only if its end was not recorded', async () => {
    const { points } = await run(3, new Map());
    const recorded = points.indexOf('record_run:after');
    const settled = points.indexOf('settle:after');
    for (let index = recorded; index < settled; index++) {
      const { world } = await run(3, new Map([[index, 'die']]));
      expect(world.finishedRuns).toEqual([1, 2, 3]);
    }
  });

  it('survives a stall beyond its lease at every point it passes, on one host and on a fleet', async () => {
    const { points } = await run(3, new Map());
    const cases = [false, true].flatMap((isFleet) =>
      pointsOf(points).flatMap((one) =>
        (['stall', 'nap', 'startle', 'doze'] as const).map((fate) => ({ ...one, isFleet, fate })),
      ),
    );
    const kind = ({ isFleet, point }: (typeof cases)[number]) => `${isFleet} ${point}`;
    const failures = await sweep(draw(cases, { of: 'goal stalls', kind }), {
      name: ({ isFleet, fate, at, point }) => `${isFleet} ${fate} ${at} ${point}`,
      violationsOf: async ({ isFleet, fate, at }) =>
        (await run(3, new Map([[at, fate]]), isFleet)).violations,
    });
    expect(failures).toEqual([]);
  });

  it.runIf(IS_WHOLE)(
    'has one runner: a second one that comes while the first lives is turned away',
    async () => {
      const simulated = await simulate({ script: scriptOf(2), fate: () => null, intruderAtMs: 3_000 });
      expect(simulated.ends[0]).toBe('held_elsewhere');
      expect(await violationsOf(simulated, 2)).toEqual([]);
      await simulated.store.close();
    },
  );

  it('stops at its budget wherever it dies, and never hangs', async () => {
    const session = { budget_usd: 0.15 };
    const { points } = await simulate({ script: scriptOf(9), session, fate: () => null });
    const cases = draw(pointsOf(points), { of: 'goal budget', kind: ({ point }) => point });
    for (const { at: index } of cases) {
      const simulated = await simulate({
        script: scriptOf(9),
        session,
        fate: (_, at) => (at === index ? 'die' : null),
      });
      const row = await simulated.store.read((db) => findSession(db, simulated.sessionId));
      await simulated.store.close();
      expect([simulated.isStuck, row?.status, row?.stop_reason]).toEqual([false, 'blocked', 'budget_cost']);
    }
  });

  it('survives a death at every point while a person commits on its branch', async () => {
    // Put on top, put on top and verified again, and in conflict with the agent's work.
    const script: AgentScript = (iteration, attempt) => ({
      ...scriptOf(4)(iteration, attempt),
      person: iteration === 3 ? 'conflicts' : 'commits',
    });
    const { points, world } = await simulate({ script, fate: () => null });
    expect([...world.commits.values()].filter(({ session }) => session === '')).toHaveLength(5);
    const cases = [false, true].flatMap((isFleet) => pointsOf(points).map((one) => ({ ...one, isFleet })));
    const failures = await sweep(draw(cases, { of: 'a person commits', kind: ({ point }) => point }), {
      name: ({ isFleet, at, point }) => `${isFleet} ${at} ${point}`,
      async violationsOf({ isFleet, at }) {
        const fate = (_: string, index: number) => (index === at ? 'die' : null);
        const simulated = await simulate({ script, isFleet, fate });
        const violations = await violationsOf(simulated, 4, { isFleet, hasPerson: true });
        await simulated.store.close();
        return violations;
      },
    });
    expect(failures).toEqual([]);
  });

  it('survives every pair of deaths', { timeout: 600_000 }, async () => {
    const { points } = await run(2, new Map());
    const pairs = pointsOf(points).flatMap((first) =>
      Array.from({ length: points.length - first.at }, (_, index) => ({
        ...first,
        second: first.at + 1 + index,
      })),
    );
    // What the second death meets of the first one's repair comes soon after it: those are kinds of their own.
    const isNear = ({ at, second }: (typeof pairs)[number]) => second - at <= NEAR;
    const kind = ({ point }: (typeof pairs)[number]) => point;
    const drawn = [
      ...draw(pairs.filter(isNear), { of: 'goal pairs', kind }),
      ...draw(
        pairs.filter((pair) => !isNear(pair)),
        { of: 'far goal pairs', kind, restShare: 0.2 },
      ),
    ];
    const failures = await sweep(drawn, {
      name: ({ at, point, second }) => `${at} ${point}, ${second}`,
      async violationsOf({ at, second }) {
        const fates = [at, second].map((index) => [index, 'die'] as const);
        return (await run(2, new Map(fates))).violations;
      },
    });
    expect(failures).toEqual([]);
  });

  it('survives random deaths, stalls, lost and doubled rings and clock jumps', {
    timeout: 600_000,
  }, async () => {
    const failures = await sweep([...seedsOf(30, 150), ONCE_FOUND], {
      name: (seed) => `PULSE_TEST_SEED=${seed}`,
      violationsOf: runAtRandom,
    });
    expect(failures).toEqual([]);
  });

  it.runIf(IS_WHOLE)(
    'passes every crash point that the list of actions names, in one scenario or another',
    async () => {
      const seen = new Set<string>();
      const note = ({ points }: { points: string[] }) => points.forEach((point) => void seen.add(point));
      note(await run(3, new Map()));
      note(await run(3, new Map([[14, 'die']])));
      const failing: AgentScript = (iteration, attempt) =>
        attempt === 1 && iteration === 1
          ? { failure: { class: 'crashed', message: 'exit 1', resetAt: null } }
          : scriptOf(2)(iteration, attempt);
      note(await simulate({ script: failing, fate: () => null }));
      const forgetful: AgentScript = (...of) => (of[0] === 1 ? { finalMessage: 'Hm.' } : scriptOf(2)(...of));
      note(await simulate({ script: forgetful, fate: () => null }));
      const person =
        (script: AgentScript): AgentScript =>
        (...of) => ({ ...script(...of), person: 'commits' });
      note(await simulate({ script: person(scriptOf(2)), fate: () => null }));
      note(
        await simulate({ script: person(workflowScript), session: { kind: 'workflow' }, fate: () => null }),
      );
      note(await simulate({ script: scriptOf(9), session: { max_iterations: 0 }, fate: () => null }));
      note(await simulate({ script: scriptOf(3), pauseAt: 'agent-started', fate: () => null }));
      const workflow = { kind: 'workflow' };
      note(await simulate({ script: workflowScript, session: workflow, fate: () => null }));
      note(
        await simulate({
          script: workflowScript,
          session: workflow,
          pauseAt: 'agent-started',
          fate: () => null,
        }),
      );
      const research = { session: { kind: 'research' }, hasCommander: true };
      note(await simulate({ script: scriptOf(9), ...research, fate: () => null }));
      note(await simulate({ script: scriptOf(9), ...research, parallel: 2, fate: () => null }));
      // A review is a person's, beside the runner: this one is real.
      note(await passedInReview());
      // Those of beads are passed by swarm-simulation.test.ts.
      const loops = fakeLoopList().filter(({ kind }) => kind !== 'beads');
      expect(crashPoints(loops).filter((point) => !seen.has(point))).toEqual([]);
    },
  );
});
