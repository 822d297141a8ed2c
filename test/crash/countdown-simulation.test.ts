/** A loop that only tests have survives what Pulse's own survive: the engine needs to know nothing of it. */
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../src/store/events.ts';
import { findSession, listChildren } from '../../src/store/sessions.ts';
import { countdown } from '../fakes/countdown/index.ts';
import { findCountdown, insertCountdown } from '../fakes/countdown/rows.ts';
import { type Fate, type Simulated, simulate } from '../fakes/simulation.ts';
import { type AgentScript, attemptsOf } from '../fakes/world.ts';
import { IS_WHOLE } from '../lanes/lane.ts';
import { surviveSuite } from './loop-suite.ts';

const FROM = 2;

/** Counts what it is asked to count. */
const script: AgentScript = (_, __, unit) => ({
  finalMessage: 'Counted.',
  own: { counted: Number(unit?.replace('count-', '')) },
});

async function run(fate: (point: string, index: number) => Fate | null) {
  const simulated = await simulate({
    script,
    session: { kind: 'countdown' },
    other: {
      module: countdown,
      admit: (db, sessionId) => insertCountdown(db, { sessionId, from: FROM, hasHelper: true }),
    },
    fate,
  });
  const violations = await violationsOf(simulated);
  await simulated.store.close();
  return { ...simulated, violations };
}

async function violationsOf({ world, store, sessionId, isStuck }: Simulated): Promise<string[]> {
  const found = [...world.violations];
  const check = (holds: boolean, what: string): void => void (holds || found.push(what));
  check(!isStuck, 'the session never ended');
  const { session, row, helpers, events } = await store.read(async (db) => ({
    session: (await findSession(db, sessionId))!,
    row: await findCountdown(db, sessionId),
    helpers: await listChildren(db, sessionId),
    events: await readEvents(db, sessionId, { limit: 100_000 }),
  }));
  const of = (type: string) => events.filter((event) => event.type === type);
  check(session.status === 'complete', `${session.status} ${session.stop_reason} ${session.blocked_reason}`);
  check(row.at === 0 && row.is_fuse_lit === 1, `at ${row.at}, lit ${row.is_fuse_lit}`);
  const counted = of('countdown.counted').map(({ data }) => data.number);
  check(counted.join() === '2,1', `counted ${counted}`);
  check(of('countdown.lit').length === 1, `lit ${of('countdown.lit').length} times`);
  check(of('countdown.joined').length === 1, `joined ${of('countdown.joined').length} times`);
  check(
    helpers.length === 1 && helpers[0]!.status === 'complete',
    `helpers ${helpers.map((one) => one.status)}`,
  );
  check(session.total_commits === 2 && helpers[0]?.total_commits === 1, 'a commit is lost or doubled');
  check(attemptsOf(world).length === 0, 'an attempt ref is left');
  check(![...world.agents].some((agent) => agent.isAlive), 'an agent is still alive');
  return found;
}

describe('a simulated countdown', () => {
  it.runIf(IS_WHOLE)('counts, spawns its helper and lights the fuse when nothing goes wrong', async () => {
    const { violations, points } = await run(() => null);
    expect(violations).toEqual([]);
    for (const action of ['spawn', 'light_fuse', 'start', 'land'])
      expect(points).toContain(`${action}:after`);
  });
});

surviveSuite({ name: 'a simulated countdown', run, near: 8, randomRuns: { few: 20, many: 100 } });
