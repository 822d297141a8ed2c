/** Real SIGKILL at the crash points of a swarm: every bead is closed once, with its commit and its evidence. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../src/engine/actions.ts';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { IS_WHOLE } from '../lanes/lane.ts';
import { actionOf, drawFor, processesOf, runner, type StoreOfSuite } from './kill-suite.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const BEADS = ['a', 'b', 'c'];

/** The first two begin from the same head, so that the second of them has to be merged. The context is full after `a`. */
const AGENT = `cat > /dev/null
touch "$NOTES/$PULSE_UNIT.at"
[ "$PULSE_UNIT" = c ] || for i in $(seq 400); do [ -f "$NOTES/a.at" ] && [ -f "$NOTES/b.at" ] && break; sleep 0.05; done
[ "$PULSE_UNIT" = a ] && pulse tool report_usage '{"contextTokens":90,"contextWindow":100}' > /dev/null
echo "$PULSE_UNIT" > "$PULSE_UNIT.txt"
pulse tool bead_done '{"summary":"write it"}' > /dev/null
`;

const POINTS: [CrashPoint, number][] = (
  [
    ...(['spawn', 'acknowledge', 'take_bead', 'verify_merge', 'hand_off'] as const).map(
      (name) => [name, 1] as const,
    ),
    ...(
      ['take_bead', 'dispatch', 'run_agent', 'record_run', 'commit', 'report', 'land', 'settle'] as const
    ).flatMap((name) => [[name, 1] as const, [name, 2] as const]),
  ] as const
).flatMap(([name, count]) =>
  (['before', 'after'] as const).map((side): [CrashPoint, number] => [`${name}:${side}`, count]),
);

/** A worker runs, commits and reports as a goal does, which has a suite of its own: here those are of one kind. */
function kindOf([where]: [CrashPoint, number]): string {
  const action = actionOf({ where });
  return ['dispatch', 'run_agent', 'record_run', 'commit', 'report', 'settle'].includes(action)
    ? 'work'
    : action;
}

async function createEpic({ repository: project_key, environment }: Scratch): Promise<Pulse> {
  const found = { git: '2', worktrees: true, agents: [], sandbox: false };
  await writeOnboarding(project_key, { at: '2026-01-01T00:00:00.000Z', found });
  const pulse = await createPulse({ environment });
  await pulse.bead.create({ project_key, id: 'app', title: 'The app', type: 'epic', feature: 'app' });
  return pulse;
}

async function start(scratch: Scratch): Promise<string> {
  const { repository: project_key } = scratch;
  await using pulse = await createEpic(scratch);
  for (const id of BEADS)
    await pulse.bead.create({
      ...{ project_key, id, title: `Write ${id}`, epic: 'app', files: [`${id}.txt`] },
      verify: [{ command: `test -s ${id}.txt` }],
      dependencies: id === 'c' ? ['a', 'b'] : [],
    });
  const command = `NOTES='${scratch.path}' sh '${scratch.file('agent.sh', AGENT)}'`;
  const { session } = await pulse.swarm.start({
    ...{ path: project_key, epic: 'app', workers: 2, command, createdBy: 'cli' as const },
  });
  return session.id;
}

/** Its only bead names a decision that nobody wrote down. */
async function startUnplanned(scratch: Scratch): Promise<string> {
  const { repository: project_key } = scratch;
  await using pulse = await createEpic(scratch);
  await pulse.bead.create({
    ...{ project_key, id: 'a', title: 'Write a', epic: 'app', files: ['a.txt'] },
    ...{ verify: [{ command: 'true' }], decision_refs: ['D7'] },
  });
  const place = { path: project_key, epic: 'app', workers: 1, command: 'true' };
  return (await pulse.swarm.start({ ...place, createdBy: 'cli' as const })).session.id;
}

async function expectBounced(scratch: Scratch, id: string): Promise<void> {
  const { repository: project_key } = scratch;
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.swarm.show(id);
  expect(session).toMatchObject({ status: 'blocked', stop_reason: 'unresolved_issues', total_commits: 0 });
  const { bead } = await pulse.bead.show('a', { project_key });
  expect(bead).toMatchObject({ status: 'blocked', labels: ['needs-planning'], claim: null });
  const { messages } = await pulse.mail.inbox({ agent_name: 'coordinator', project_key });
  expect(messages.filter(({ subject }) => subject === 'a needs planning')).toHaveLength(1);
  expect((await pulse.reservations.list({ project_key })).reservations).toEqual([]);
  const { events } = await pulse.export(id);
  expect(events.filter(({ type }) => type === 'bead.blocked')).toHaveLength(1);
}

async function expectSound(scratch: Scratch, id: string): Promise<void> {
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session, beads } = await pulse.swarm.show(id);
  expect(session, session.blocked_reason ?? '').toMatchObject({
    status: 'complete',
    stop_reason: 'completed',
  });
  const { branch_name: branch } = session;
  const subjects = scratch.git('log', '--format=%s', `main..${branch}`).split('\n');
  expect(subjects.toSorted()).toEqual(BEADS.map((bead) => `feat(${bead}): write it`));
  for (const { id: bead, status, commit } of beads) {
    expect(status).toBe('closed');
    expect(scratch.git('log', '-1', '--format=%s', commit!)).toBe(`feat(${bead}): write it`);
    expect(scratch.git('branch', '--contains', commit!, '--format=%(refname:short)')).toContain(branch);
    expect(scratch.git('show', `${branch}:history/app/verification/${bead}.md`)).toContain('passed');
  }
  const { messages } = await pulse.mail.inbox({
    agent_name: 'coordinator',
    project_key: scratch.repository,
  });
  const completed = messages.filter(({ subject }) => subject.startsWith('Completed '));
  expect(completed.map(({ subject }) => subject).toSorted()).toEqual(
    BEADS.map((bead) => `Completed ${bead}`),
  );
  const { reservations } = await pulse.reservations.list({ project_key: scratch.repository });
  expect(reservations).toEqual([]);
  expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse/attempts', 'refs/pulse/wip')).toBe(
    '',
  );
  expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
  expect(processesOf(scratch)).toEqual([]);
}

function suite(place: StoreOfSuite): void {
  describe(`a swarm on ${place.store}`, () => {
    it.each(drawFor(place, POINTS, { of: 'swarm', kind: kindOf }))(
      'that is killed at %s (%i) is completed by the next runner',
      async (where, count) => {
        using scratch = createScratch();
        await place.prepare(scratch);
        const id = await start(scratch);
        expect(await runner(scratch, id, { where, count })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await expectSound(scratch, id);
      },
    );

    it.runIf(IS_WHOLE).each(['release_bead:before', 'release_bead:after'])(
      'that is killed at %s gives the bead back to planning once',
      async (where) => {
        using scratch = createScratch();
        await place.prepare(scratch);
        const id = await startUnplanned(scratch);
        expect(await runner(scratch, id, { where, count: 1 })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await expectBounced(scratch, id);
      },
    );
  });
}

suite({ store: 'SQLite', prepare: async () => undefined });
suite({
  store: 'PostgreSQL',
  isSecond: true,
  async prepare(scratch) {
    scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
  },
});
