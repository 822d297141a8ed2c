import { describe, expect, it } from 'vitest';
import { CRASH_POINTS } from '../../src/engine/actions.ts';
import { findSession } from '../../src/store/sessions.ts';
import { workflowScript } from '../fakes/pulse-world.ts';
import { createRandom } from '../fakes/random.ts';
import { type Fate, simulate, violationsOf } from '../fakes/simulation.ts';
import type { AgentScript } from '../fakes/world.ts';
import { passedInReview } from './kill-review.ts';

/** `PULSE_SEED=… npm test` repeats a random run; the seed is in the failure's text. */
const SEED = Number(process.env.PULSE_SEED ?? Math.floor(Math.random() * 2 ** 31));
const RANDOM_RUNS = 150;

/** Works for `count` iterations; the last but one is rejected once, so that verification has its say. */
function scriptOf(count: number): AgentScript {
  const finalMessage = 'All of it.\n<signal>COMPLETE</signal>';
  return (iteration) => (iteration >= count - 1 ? { finalMessage, verifies: iteration === count } : {});
}

async function run(count: number, fates: ReadonlyMap<number, Fate>, isFleet = false) {
  const script = scriptOf(count);
  const simulated = await simulate({ script, isFleet, fate: (_, index) => fates.get(index) ?? null });
  const violations = await violationsOf(simulated, count, { isFleet });
  await simulated.store.close();
  return { ...simulated, violations };
}

describe('a simulated session', () => {
  it('ends complete with one commit an iteration when nothing goes wrong', async () => {
    const { violations, world, processes } = await run(3, new Map());
    expect(violations).toEqual([]);
    expect(world.finishedRuns).toEqual([1, 2, 3]);
    expect(processes).toBe(1);
  });

  it('survives a death at every point it passes', async () => {
    const { points } = await run(3, new Map());
    const failures: string[] = [];
    for (const [index, point] of points.entries()) {
      const { violations } = await run(3, new Map([[index, 'die']]));
      if (violations.length > 0) failures.push(`${index} ${point}: ${violations.join('; ')}`);
    }
    expect(failures).toEqual([]);
  });

  it('runs an agent again only if its end was not recorded', async () => {
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
    const failures: string[] = [];
    for (const isFleet of [false, true]) {
      for (const [index, point] of points.entries()) {
        for (const fate of ['stall', 'nap', 'startle', 'doze'] as const) {
          const { violations } = await run(3, new Map([[index, fate]]), isFleet);
          if (violations.length > 0)
            failures.push(`${isFleet} ${fate} ${index} ${point}: ${violations.join('; ')}`);
        }
      }
    }
    expect(failures).toEqual([]);
  });

  it('has one runner: a second one that comes while the first lives is turned away', async () => {
    const simulated = await simulate({ script: scriptOf(2), fate: () => null, intruderAtMs: 3_000 });
    expect(simulated.ends[0]).toBe('held_elsewhere');
    expect(await violationsOf(simulated, 2)).toEqual([]);
    await simulated.store.close();
  });

  it('stops at its budget wherever it dies, and never hangs', async () => {
    const session = { budget_usd: 0.15 };
    const { points } = await simulate({ script: scriptOf(9), session, fate: () => null });
    for (const index of points.keys()) {
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
    const failures: string[] = [];
    for (const isFleet of [false, true]) {
      for (const [index, point] of points.entries()) {
        const simulated = await simulate({ script, isFleet, fate: (_, at) => (at === index ? 'die' : null) });
        const violations = await violationsOf(simulated, 4, { isFleet, hasPerson: true });
        await simulated.store.close();
        if (violations.length > 0) failures.push(`${isFleet} ${index} ${point}: ${violations.join('; ')}`);
      }
    }
    expect(failures).toEqual([]);
  });

  it('survives every pair of deaths', { timeout: 240_000 }, async () => {
    const { points } = await run(2, new Map());
    const failures: string[] = [];
    for (const [first, point] of points.entries()) {
      for (let second = first + 1; second <= points.length; second++) {
        const fates = new Map<number, Fate>([
          [first, 'die'],
          [second, 'die'],
        ]);
        const { violations, points: passed } = await run(2, fates);
        if (violations.length > 0)
          failures.push(`${first} ${point}, ${second} ${passed[second]}: ${violations.join('; ')}`);
      }
    }
    expect(failures).toEqual([]);
  });

  it('survives random deaths, stalls, lost and doubled rings and clock jumps', {
    timeout: 240_000,
  }, async () => {
    const failures: string[] = [];
    for (let index = 0; index < RANDOM_RUNS; index++) {
      const random = createRandom(SEED + index);
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
      if (violations.length > 0) failures.push(`PULSE_SEED=${SEED + index} ${violations.join('; ')}`);
    }
    expect(failures).toEqual([]);
  });

  it('passes every crash point that the list of actions names, in one scenario or another', async () => {
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
    note(await simulate({ script: person(workflowScript), session: { kind: 'workflow' }, fate: () => null }));
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
    expect(CRASH_POINTS.filter((point) => !seen.has(point))).toEqual([]);
  });
});
