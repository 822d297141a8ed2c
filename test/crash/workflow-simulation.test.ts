/** A workflow of two pulses, the first in two runs, under deaths and stalls at every point. */
import { describe, expect, it } from 'vitest';
import { listPulses } from '../../src/loops/workflow/rows.ts';
import { readEvents } from '../../src/store/events.ts';
import { listIterations } from '../../src/store/iterations.ts';
import { findSession } from '../../src/store/sessions.ts';
import { workflowScript } from '../fakes/pulse-world.ts';
import { type Fate, type Simulated, simulate } from '../fakes/simulation.ts';
import { attemptsOf } from '../fakes/world.ts';
import { IS_WHOLE } from '../lanes/lane.ts';
import { surviveSuite } from './loop-suite.ts';

async function run(fate: (point: string, index: number) => Fate | null) {
  const simulated = await simulate({ script: workflowScript, session: { kind: 'workflow' }, fate });
  const violations = await violationsOf(simulated);
  await simulated.store.close();
  return { ...simulated, violations };
}

async function violationsOf({ world, store, sessionId, isStuck }: Simulated): Promise<string[]> {
  const found = [...world.violations];
  const check = (holds: boolean, what: string): void => void (holds || found.push(what));
  check(!isStuck, 'the session never ended');
  const { session, pulses, iterations, events } = await store.read(async (db) => ({
    session: (await findSession(db, sessionId))!,
    pulses: await listPulses(db, 'wfl'),
    iterations: await listIterations(db, sessionId),
    events: await readEvents(db, sessionId, { limit: 100_000 }),
  }));
  check(
    session.stop_reason === 'approval_required',
    `${session.status} ${session.stop_reason} ${session.blocked_reason}`,
  );
  check(pulses.length === 2, `${pulses.length} pulses`);
  check(
    pulses.every(({ status }) => status === 'succeeded'),
    `pulses ${pulses.map(({ status }) => status)}`,
  );
  check(iterations.length === 4, `${iterations.length} iterations`);
  check(session.total_commits === 2, `total_commits ${session.total_commits}`);
  for (const type of ['PulseCompleted', 'pulse.started'] as const) {
    check(events.filter((event) => event.type === type).length === 2, `${type} not twice`);
  }
  check(events.filter(({ type }) => type === 'preflight.completed').length === 1, 'preflight not once');
  const tip = world.commits.get(world.branches.get(session.branch_name) ?? '');
  // The first pulse's two runs are one commit; the second's stands on it.
  check(tip?.content === '2,3,4,', `content ${tip?.content}`);
  const first = world.commits.get(tip?.parent ?? '');
  check(
    first?.content === '2,3,' && first.parent === 'base',
    `history ${first?.content} on ${first?.parent}`,
  );
  check(world.branches.size === 1, `branches ${[...world.branches.keys()]}`);
  check(![...world.refs.keys()].some((ref) => ref.startsWith('wip/')), 'a wip ref is left');
  check(attemptsOf(world).length === 0, 'an attempt ref is left');
  check(![...world.agents].some((agent) => agent.isAlive), 'an agent is still alive');
  check(session.reserved_usd < 1e-9, `reserved ${session.reserved_usd}`);
  return found;
}

describe('a simulated workflow', () => {
  it.runIf(IS_WHOLE)('makes one commit for each pulse when nothing goes wrong', async () => {
    const { violations, world } = await run(() => null);
    expect(violations).toEqual([]);
    expect(world.finishedRuns).toEqual([2, 3, 4]);
  });
});

surviveSuite({ name: 'a simulated workflow', run, near: 8, randomRuns: { few: 20, many: 100 } });
