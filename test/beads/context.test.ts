/** A worker's context: nearly full after a bead, full inside one, or compacted. The agent is `native`, its model a script. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Step, startModelServer } from '../fakes/model-server/index.ts';
import { beadDone, createSwarmScene, type SwarmScene } from './swarm-scene.ts';

interface NativeSwarm {
  scene: SwarmScene;
  /** What each run of an agent was told first. */
  briefs: string[];
  drive(): Promise<Awaited<ReturnType<SwarmScene['drive']>>>;
  start(options?: Record<string, unknown>): Promise<string>;
  /** A person stops the swarm when this point is passed. */
  stopAt(point: string): void;
}

const WINDOW = 2_000;

/** One worker; the model of its runs says these steps, run after run. */
async function createNativeSwarm(runs: readonly (readonly Step[])[]): Promise<NativeSwarm> {
  const server = await startModelServer();
  let run = -1;
  const briefs: string[] = [];
  let stopsAt: string | null = null;
  let id = '';
  const scene = await createSwarmScene({
    async trace(point) {
      if (point === stopsAt) await scene.pulse.swarm.stop(id);
      if (point === 'run_agent:before') server.script('model', runs[++run] ?? [{ text: 'Nothing is left.' }]);
      if (point !== 'run_agent:after') return;
      const { messages } = server.requests('model')[0]!.body as { messages: unknown[] };
      briefs.push(JSON.stringify(messages[0]));
    },
  });
  onTestFinished(async () => {
    await scene[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  Object.assign(scene.environment, {
    ANTHROPIC_BASE_URL: `${server.script('model', [])}/v1`,
    ANTHROPIC_API_KEY: 'dummy',
    PULSE_NATIVE_CONTEXT_WINDOW: String(WINDOW),
  });
  const start = async (options: Record<string, unknown> = {}): Promise<string> => {
    id = await scene.start('', { workers: 1, agent: 'native', command: undefined, ...options });
    return id;
  };
  return {
    scene,
    briefs,
    start,
    drive: async () => scene.drive(await start()),
    stopAt(point) {
      stopsAt = point;
    },
  };
}

const write = (path: string, content = 'x\n') => ({ tool: 'write_file', input: { path, content } });
const done = { tool: 'bead_done', input: { summary: 'write it' } };
const finish = (path: string, usage?: Step['usage']): Step[] => [
  { calls: [write(path), done], ...(usage ? { usage } : {}) },
  { text: 'That is all.', ...(usage ? { usage } : {}) },
];
const handoff = ({ scratch }: SwarmScene) => JSON.parse(scratch.read('.pulse/handoffs/worker-worker-1.json'));

it('hands over after a bead by what the agent’s own stream tells of its context', async () => {
  const full = { input: 0.7 * WINDOW, output: 0 };
  const { scene, drive } = await createNativeSwarm([finish('a.txt', full), finish('b.txt')]);
  await scene.bead('a');
  await scene.bead('b', { dependencies: ['a'] });
  const { session, workers } = await drive();
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  expect(workers).toMatchObject([
    { mailName: 'worker-1', leftFor: 'context_critical', contextUsed: expect.closeTo(0.7, 2) },
    { mailName: 'worker-1', leftFor: null, contextUsed: expect.closeTo(1_050 / WINDOW, 2) },
  ]);
  expect(handoff(scene)).toMatchObject({
    status: 'consumed',
    payload: { context_snapshot: { tokens_used_pct: 0.7, last_bead_closed: 'a' } },
  });
});

it('names what comes next where one worker alone hands over', async () => {
  await using scene = await createSwarmScene();
  await scene.bead('a');
  await scene.bead('b', { dependencies: ['a'] });
  const full = `pulse tool report_usage '{"contextTokens":70,"contextWindow":100}'`;
  const script = `[ $PULSE_UNIT = a ] && ${full}; echo x > $PULSE_UNIT.txt; ${beadDone()}`;
  const { session } = await scene.drive(await scene.start(script, { standalone: true }));
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 2 });
  expect(JSON.parse(scene.scratch.read('.pulse/handoffs/single-worker.json'))).toMatchObject({
    payload: { transfer: { in_flight: ['Next priority hint: b'] } },
  });
});

it('hands over with the bead in flight where the context overflows inside it', async () => {
  const { scene, briefs, drive } = await createNativeSwarm([
    [{ calls: [write('a.txt', 'half\n')] }, { faults: [{ kind: 'overflow', times: 'always' }] }],
    [{ calls: [{ tool: 'read_file', input: { path: 'a.txt' } }] }, { calls: [done] }, { text: 'Done.' }],
  ]);
  await scene.bead('a', { verify: [{ command: 'grep half a.txt' }] });
  const { session, workers, beads } = await drive();
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 1 });
  expect(workers.map(({ mailName, leftFor }) => [mailName, leftFor])).toEqual([
    ['worker-1', 'context_overflow'],
    ['worker-1', null],
  ]);
  expect(beads).toMatchObject([{ id: 'a', status: 'closed' }]);
  expect(handoff(scene)).toMatchObject({
    status: 'consumed',
    payload: {
      context_snapshot: { tokens_used_pct: 1, last_bead_closed: null },
      transfer: { in_flight: [expect.stringContaining('Bead a is in progress')] },
    },
  });
  expect(briefs[1]).toMatch(/context of the last run was full[\s\S]*Bead a is in progress/);
  const { messages } = await scene.pulse.mail.inbox({ agent_name: 'coordinator' });
  expect(messages.map(({ subject }) => subject)).toEqual([
    '[ONLINE] worker-1 / worker-1',
    '[HANDOFF] worker-1 / worker-1',
    '[ONLINE] worker-1 / worker-1',
    'Completed a',
  ]);
  expect((await scene.pulse.reservations.list({})).reservations).toEqual([]);
});

it('has its bead in flight continued by another worker where a person says so', async () => {
  const { scene, stopAt, start } = await createNativeSwarm([
    [{ calls: [write('a.txt', 'half\n')] }, { faults: [{ kind: 'overflow', times: 'always' }] }],
    [{ calls: [done] }, { text: 'Done.' }],
  ]);
  await scene.bead('a', { verify: [{ command: 'grep half a.txt' }] });
  stopAt('hand_off:after');
  const id = await start({ workers: 2 });
  const stopped = await scene.drive(id);
  expect(stopped.session).toMatchObject({ status: 'paused' });
  const left = stopped.workers.find(({ leftFor }) => leftFor === 'context_overflow')!;
  const other = stopped.workers.find(({ leftFor }) => leftFor === null)!;
  const { swarm, bead, resume } = scene.pulse;
  const from = `worker-${left.mailName}`;
  await expect(swarm.reassign(id, { from, to: 'worker-nobody' })).rejects.toThrow('is no worker here');
  const to = `worker-${other.mailName}`;
  expect((await swarm.reassign(id, { from, to })).handoff).toMatchObject({ owner_id: to });
  const project_key = scene.scratch.repository;
  expect((await bead.show('a', { project_key })).bead.claim).toMatchObject({ worker: other.mailName });
  await resume(id);
  const { session, workers, beads } = await scene.drive(id);
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 1 });
  expect(workers).toHaveLength(2);
  expect(beads).toMatchObject([{ id: 'a', status: 'closed' }]);
  const { events } = await scene.pulse.export(id);
  expect(events.findLast(({ type }) => type === 'bead.closed')?.data).toMatchObject({
    worker: other.mailName,
  });
});

it('stops at a compaction, and the next run reads AGENTS.md, CONTEXT.md and the bead first', async () => {
  const read = { tool: 'read_file', input: { path: 'AGENTS.md' } };
  const { scene, briefs, drive } = await createNativeSwarm([
    [
      {
        calls: [write('a.txt', 'half\n'), ...Array.from({ length: 8 }, () => read)],
        usage: { input: 0.9 * WINDOW },
      },
      { calls: [write('a.txt', 'never\n')] },
    ],
    [{ calls: [done] }, { text: 'Done.' }],
  ]);
  const { scratch } = scene;
  mkdirSync(join(scratch.repository, 'history/app'), { recursive: true });
  writeFileSync(join(scratch.repository, 'AGENTS.md'), `${'The rules of this place.\n'.repeat(40)}`);
  writeFileSync(join(scratch.repository, 'history/app/CONTEXT.md'), 'What was locked.\n');
  scratch.git('add', '-A');
  scratch.git('commit', '-qm', 'rules');
  await scene.bead('a', { verify: [{ command: 'grep half a.txt' }] });
  const { session, workers } = await drive();
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 1 });
  expect(workers).toHaveLength(1);
  const { events } = await scene.pulse.export(workers[0]!.sessionId);
  expect(events.filter(({ type }) => type === 'agent.compacted')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'iteration.ended')).toMatchObject([{}, {}]);
  const places = [
    '# Stop: your context was compacted',
    'The rules of this place.',
    'What was locked.',
    '# Bead a',
  ].map((part) => briefs[1]!.indexOf(part));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});
