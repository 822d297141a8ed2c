/** A research session of four experiments, the third mended once, under deaths and stalls at every point. */
import { describe, expect, it } from 'vitest';
import {
  listCommanderComments,
  listCommanderMessages,
  listCommanderTasks,
} from '../../src/loops/research/commander/rows.ts';
import { findResearch, listExperiments } from '../../src/loops/research/rows.ts';
import { readEvents } from '../../src/store/events.ts';
import { findSession } from '../../src/store/sessions.ts';
import { type Fate, type Simulated, simulate } from '../fakes/simulation.ts';
import { type AgentScript, attemptsOf } from '../fakes/world.ts';
import { draw, IS_WHOLE, sweep } from '../lanes/lane.ts';
import { pointsOf, surviveSuite } from './loop-suite.ts';

const script: AgentScript = (iteration) => ({ finalMessage: `Idea ${iteration}.` });

async function run(
  fate: (point: string, index: number) => Fate | null,
  { hasCommander = false }: { hasCommander?: boolean } = {},
) {
  const simulated = await simulate({ script, session: { kind: 'research' }, hasCommander, fate });
  const violations = await violationsOf(simulated);
  if (hasCommander) violations.push(...toldViolations(simulated));
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
  return [...found, ...(await commanderViolations({ store, sessionId }))];
}

/** The built-in commander: everything exactly once. */
async function commanderViolations({
  store,
  sessionId,
}: Pick<Simulated, 'store' | 'sessionId'>): Promise<string[]> {
  const found: string[] = [];
  const check = (holds: boolean, what: string): void => void (holds || found.push(what));
  const { tasks, comments, messages } = await store.read(async (db) => {
    const all = await listCommanderTasks(db, { group_id: sessionId });
    return {
      tasks: all,
      comments: await listCommanderComments(
        db,
        all.map(({ id }) => id),
      ),
      messages: await listCommanderMessages(db, { group_id: sessionId }),
    };
  });
  const results = tasks.map(
    ({ experiment, status, result }) => `${experiment} ${status} ${result?.split(':')[0]}`,
  );
  check(
    results.join() === '1 completed discard,2 completed keep,3 completed discard,4 completed keep',
    `tasks ${results}`,
  );
  const commented = comments.map(({ task_id }) => tasks.find(({ id }) => id === task_id)?.experiment);
  check(commented.sort().join() === '1,2,3,4', `comments of ${commented}`);
  const said = messages.map(({ message_type }) => message_type).join();
  check(said === 'result', `messages ${said}`);
  return found;
}

/** Everything, in order; doubled at most by a death before its record. */
function toldViolations({ world }: Simulated): string[] {
  const first = new Map(world.commander.toReversed().map((call) => [call.key, call]));
  const calls = [...new Set(world.commander.map(({ key }) => key))].map((key) => first.get(key)!);
  const told = calls.map(({ arguments: { operation, task_id = '' } }) => `${operation} ${task_id}`.trim());
  const expected = [184, 185, 186, 187].flatMap((id) => [
    'create',
    `claim ${id}`,
    `complete ${id}`,
    `comment:add ${id}`,
  ]);
  return told.join() === [...expected, 'send'].join() ? [] : [`told elsewhere ${told}`];
}

describe('a simulated research session', () => {
  it.runIf(IS_WHOLE)('keeps two of four experiments when nothing goes wrong', async () => {
    const { violations, world } = await run(() => null);
    expect(violations).toEqual([]);
    expect(world.finishedRuns).toEqual([2, 3, 4, 5, 6]);
  });
});

surviveSuite({
  name: 'a simulated research session',
  run: (fate) => run(fate),
  ...{ near: 6, randomRuns: { few: 12, many: 60 } },
});

describe('a simulated research session with a commander elsewhere', { timeout: 600_000 }, () => {
  const elsewhere = { hasCommander: true };

  it.runIf(IS_WHOLE)('tells it everything once when nothing goes wrong', async () => {
    const { violations, world } = await run(() => null, elsewhere);
    expect(violations).toEqual([]);
    expect(world.commander).toHaveLength(17);
  });

  it.each(['die', 'stall'] as const)('tells it everything, wherever its runner fails: %s', async (fate) => {
    const { points } = await run(() => null, elsewhere);
    // What happens elsewhere in the loop is the suite's above: here it is what happens around a call.
    const around = pointsOf(points).filter(({ point }) =>
      /^(deliver|commander|settle|end|files|close)/.test(point),
    );
    const cases = draw(around, { of: `commander ${fate}`, kind: ({ point }) => point, share: 0.2 });
    const failures = await sweep(cases, {
      name: ({ at, point }) => `${at} ${point}`,
      async violationsOf({ at, point }) {
        const { violations, world } = await run((_, index) => (index === at ? fate : null), elsewhere);
        const { length: count } = world.commander;
        // Before the call nobody was told: whoever was replaced there tells nothing any more.
        if (point === 'deliver:before' && count !== 17) violations.push(`${count} calls`);
        return violations;
      },
    });
    expect(failures).toEqual([]);
  });
});
