/** A research session of four experiments, the third mended once, under deaths and stalls at every point (contract 5). */
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../src/store/events.ts';
import { findResearch, listExperiments } from '../../src/store/research.ts';
import { findSession } from '../../src/store/sessions.ts';
import { type Fate, type Simulated, simulate } from '../fakes/simulation.ts';
import { type AgentScript, attemptsOf } from '../fakes/world.ts';
import { surviveSuite } from './loop-suite.ts';

const script: AgentScript = (iteration) => ({ finalMessage: `Idea ${iteration}.` });

async function run(fate: (point: string, index: number) => Fate | null) {
  const simulated = await simulate({ script, session: { kind: 'research' }, fate });
  const violations = await violationsOf(simulated);
  await simulated.store.close();
  return { ...simulated, violations };
}

async function violationsOf({ world, store, sessionId, isStuck }: Simulated): Promise<string[]> {
  const found = [...world.violations];
  const check = (holds: boolean, what: string): void => void (holds || found.push(what));
  check(!isStuck, 'the session never ended');
  const { session, research, experiments, events } = await store.read(async (db) => ({
    session: (await findSession(db, sessionId))!,
    research: (await findResearch(db, sessionId))!,
    experiments: (await listExperiments(db, sessionId)).toReversed(),
    events: await readEvents(db, sessionId, { limit: 100_000 }),
  }));
  check(
    session.stop_reason === 'iteration_limit',
    `${session.status} ${session.stop_reason} ${session.blocked_reason}`,
  );
  const statuses = experiments.map(({ status }) => status).join();
  check(statuses === 'discard,keep,discard,keep', `experiments ${statuses}`);
  check(
    research.best === 80 && research.best_experiment === 4,
    `best ${research.best} of ${research.best_experiment}`,
  );
  check(session.total_commits === 2, `total_commits ${session.total_commits}`);
  for (const [type, count] of [
    ['experiment.kept', 2],
    ['experiment.discarded', 2],
    ['experiment.started', 4],
  ] as const) {
    check(events.filter((event) => event.type === type).length === count, `${type} not ${count} times`);
  }
  const tip = world.commits.get(world.branches.get(session.branch_name) ?? '');
  check(tip?.content === '3,6,', `content ${tip?.content}`);
  // A mended experiment is one commit of both its runs, and what was not kept stays findable.
  const mended = world.commits.get(world.refs.get('discarded/3') ?? '');
  check(
    mended?.content === '3,4,5,' && world.commits.get(mended.parent ?? '')?.content === '3,',
    `discarded ${mended?.content}`,
  );
  check(world.refs.has('discarded/1'), 'experiment 1 is lost');
  check(![...world.refs.keys()].some((ref) => ref.startsWith('wip/')), 'a wip ref is left');
  check(attemptsOf(world).length === 0, 'an attempt ref is left');
  check(![...world.agents].some((agent) => agent.isAlive), 'an agent is still alive');
  return found;
}

describe('a simulated research session', () => {
  it('keeps two of four experiments when nothing goes wrong', async () => {
    const { violations, world } = await run(() => null);
    expect(violations).toEqual([]);
    expect(world.finishedRuns).toEqual([2, 3, 4, 5, 6]);
  });
});

surviveSuite({ name: 'a simulated research session', run, near: 6, randomRuns: 60 });
