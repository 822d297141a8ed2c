/** Research by two sessions at once, under deaths and stalls at every point. */
import { describe, expect, it } from 'vitest';
import { listCommanderTasks } from '../../src/loops/research/commander/rows.ts';
import { decisionSchema } from '../../src/loops/research/measure/decision.ts';
import { type Reference, referenceSchema } from '../../src/loops/research/measure/reference.ts';
import { findResearch, listExperiments } from '../../src/loops/research/rows.ts';
import { readEvents } from '../../src/store/events.ts';
import { findSession, listChildren } from '../../src/store/sessions.ts';
import { levelOf } from '../fakes/research-world.ts';
import { type Fate, type Simulated, simulate } from '../fakes/simulation.ts';
import { type AgentScript, attemptsOf } from '../fakes/world.ts';
import { draw, IS_WHOLE, sweep } from '../lanes/lane.ts';
import { pointsOf, surviveSuite } from './loop-suite.ts';

const WORKERS = 2;
/** Each worker counts its own iterations; the idea is the experiment's. */
const script: AgentScript = (_iteration, _attempt, unit) => ({ finalMessage: `Idea of ${unit}.` });

async function run(
  fate: (point: string, index: number) => Fate | null,
  { isNoisy = false }: { isNoisy?: boolean } = {},
) {
  const session = { kind: 'research', budget_usd: 100 };
  const simulated = await simulate({ script, session, parallel: WORKERS, isNoisy, fate });
  const violations = await violationsOf(simulated);
  await simulated.store.close();
  return { ...simulated, violations };
}

async function violationsOf({ world, store, sessionId, isStuck }: Simulated): Promise<string[]> {
  const found = [...world.violations];
  const check = (holds: boolean, what: string): void => void (holds || found.push(what));
  check(!isStuck, 'the session never ended');
  const { session, workers, research, experiments, events, tasks } = await store.read(async (db) => ({
    session: (await findSession(db, sessionId))!,
    workers: await listChildren(db, sessionId),
    research: (await findResearch(db, sessionId))!,
    experiments: (await listExperiments(db, sessionId)).toReversed(),
    events: await readEvents(db, sessionId, { limit: 100_000 }),
    tasks: await listCommanderTasks(db, { group_id: sessionId }),
  }));
  check(
    session.stop_reason === 'iteration_limit',
    `${session.status} ${session.stop_reason} ${session.blocked_reason}`,
  );
  check(workers.length === WORKERS, `${workers.length} workers`);
  check(
    workers.every(({ status }) => status === 'complete'),
    `workers ${workers.map(({ status }) => status)}`,
  );
  const statuses = experiments.map(({ status }) => status).join();
  check(statuses === 'discard,keep,discard,keep', `experiments ${statuses}`);
  // With noise it is a mean.
  check(Math.abs(research.best! - 80) < 2, `best ${research.best}`);
  const isKnownOf = (sha: string, { window }: Reference): boolean =>
    window.every((value) => Math.abs(value - levelOf(world, sha)) <= 3);
  const known = referenceSchema.parse(research.reference);
  check(isKnownOf(research.best_sha!, known), `what is known of the best is ${known.window}`);
  for (const { number, start_sha, decision } of experiments) {
    if (decision === null) continue;
    const { reference } = decisionSchema.parse(decision);
    check(isKnownOf(start_sha, reference), `${number} was compared with another best: ${reference.window}`);
  }
  // Keeps are applied one after the other: each stands on the one before, and nothing of either is lost.
  const head = world.branches.get(session.branch_name) ?? '';
  check(research.best_sha === head, `the best is ${research.best_sha}, the branch at ${head}`);
  const kept = experiments.filter(({ status }) => status === 'keep').map(({ commit_hash }) => commit_hash!);
  const tip = world.commits.get(head);
  const first = world.commits.get(tip?.parent ?? '');
  check(first?.parent === 'base' && kept.includes(first.sha) && kept.includes(head), `the branch is ${head}`);
  check(tip?.content.split(',').length === 3, `content ${tip?.content}`);
  check(session.total_commits === 2, `total_commits ${session.total_commits}`);
  for (const [type, count] of [
    ['experiment.started', 4],
    ['experiment.kept', 2],
    ['experiment.discarded', 2],
    ['experiment.workers', 1],
  ] as const) {
    check(events.filter((event) => event.type === type).length === count, `${type} not ${count} times`);
  }
  check(
    events.every((event, index) => event.seq === index + 1),
    'the events have a gap',
  );
  check(tasks.filter(({ status }) => status === 'completed').length === 4, 'a commander task is open');
  // What the workers spent was the lead's.
  check(session.reserved_usd < 1e-9, `reserved ${session.reserved_usd}`);
  const spent = workers.reduce((sum, { spent_usd }) => sum + spent_usd, 0);
  check(spent > 0 && Math.abs(session.spent_usd - spent) < 1e-9, `spent ${session.spent_usd} of ${spent}`);
  check(world.refs.has('discarded/1') && world.refs.has('discarded/3'), 'a discarded change is lost');
  check(![...world.refs.keys()].some((ref) => ref.startsWith('wip/')), 'a wip ref is left');
  check(attemptsOf(world).length === 0, 'an attempt ref is left');
  check(world.worktrees.size === 0, `worktrees ${[...world.worktrees.keys()]}`);
  check(![...world.agents].some((agent) => agent.isAlive), 'an agent is still alive');
  return found;
}

describe('simulated research by two at once', () => {
  it.runIf(IS_WHOLE)('keeps two of four experiments, the second on top of the first', async () => {
    const { violations, points } = await run(() => null);
    expect(violations).toEqual([]);
    expect(points).toContain('commit again');
  });
});

surviveSuite({
  name: 'simulated research by two at once',
  run: (fate) => run(fate),
  ...{ near: 2, randomRuns: { few: 6, many: 30 }, stride: 5 },
});

describe('simulated research by two at once, with noise', () => {
  const noisy = { isNoisy: true };

  it.runIf(IS_WHOLE)('keeps the same, and knows of each best what was read of that one', async () => {
    const { violations } = await run(() => null, noisy);
    expect(violations).toEqual([]);
  });

  it('survives a death at every point', { timeout: 600_000 }, async () => {
    const { points } = await run(() => null, noisy);
    const failures = await sweep(
      draw(pointsOf(points), { of: 'noisy research', kind: ({ point }) => point, kindShare: 1 / 2 }),
      {
        name: ({ at, point }) => `${at} ${point}`,
        violationsOf: async ({ at }) =>
          (await run((_, index) => (index === at ? 'die' : null), noisy)).violations,
      },
    );
    expect(failures).toEqual([]);
  });
});
