/** The built-in commander: what a session shows there, in order (docs/protocol/research.md, Commander). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { idea, prepareLab, research, startResearch, tell } from './lab.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const IDEAS = {
  'exp-1': idea('cheaper', 90),
  'exp-2': idea('dearer', 95),
  'exp-3': idea('breaks', 'echo boom >&2; exit 1'),
  'exp-4': 'echo "No tool call."; echo "echo 80" > src/cost',
  'exp-5': idea('dearer still', 99),
  'exp-6': idea('a token sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789', 97),
};

async function sixExperiments(pulse: Pulse, scratch: Scratch) {
  prepareLab(scratch);
  return research(pulse, scratch, { iterations: 6, scripts: IDEAS });
}

describe('the built-in commander', () => {
  it.each(['SQLite', 'PostgreSQL'])(
    'has a task for each experiment, completed whatever came of it, with one comment: %s',
    async (store) => {
      using scratch = createScratch();
      if (store === 'PostgreSQL') scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
      await using pulse = await createPulse({ environment: scratch.environment });
      const { session, experiments } = await sixExperiments(pulse, scratch);
      const tasks = await pulse.commander.listTasks({ group_id: session.id });
      expect(tasks.slice(0, 4)).toMatchObject([
        {
          experiment: 1,
          description: 'Iteration #1: cheaper',
          working_directory: scratch.repository,
          status: 'completed',
          agent_name: 'autoresearch',
          result: 'keep: cheaper. Metric: 100 → 90 (delta: -10)',
        },
        { experiment: 2, result: 'discard: dearer. Metric: 90 → 95 (delta: +5)' },
        { experiment: 3, result: 'crash: breaks. Metric: 90 → - (delta: -)' },
        {
          experiment: 4,
          description: 'Iteration #4: No tool call.',
          result: 'keep: No tool call. Metric: 90 → 80 (delta: -10)',
        },
      ]);
      expect(tasks).toHaveLength(6);
      expect(tasks.map(({ comments }) => comments.length)).toEqual([1, 1, 1, 1, 1, 1]);
      expect(tasks[0]!.comments[0]).toMatchObject({
        agent_name: 'autoresearch',
        body: `Status: keep\nMetric: 90 (delta: -10)\nCommit: ${experiments[0]!.commit_hash}\nDescription: cheaper`,
      });
      expect(tasks[2]!.comments[0]!.body).toBe(
        'Status: crash\nMetric: - (delta: -)\nCommit: -\nDescription: breaks',
      );
      expect(JSON.stringify(tasks[5])).not.toContain('abcdefghijklmnopqrstuvwxyz');
      for (const task of tasks) expect(task.created_at <= task.completed_at!).toBe(true);

      const messages = await pulse.commander.listMessages({ group_id: session.id });
      expect(messages).toMatchObject([
        {
          from_agent: 'autoresearch',
          to_agent: 'commander',
          message_type: 'status',
          body: 'Autoresearch progress — Iteration #5: metric at 80 (baseline: 100). Keeps: 2 | Discards: 2 | Crashes: 1',
        },
        {
          message_type: 'result',
          body: 'Autoresearch complete (6 iterations). Baseline: 100 → Final: 80 (delta: -20). Keeps: 2 | Discards: 3 | Crashes: 1. Best: #4 — No tool call.',
        },
      ]);
      const ids = tasks.map(({ id }) => id);
      const tsv = readFileSync(join(scratch.repository, 'autoresearch-results.tsv'), 'utf8')
        .trimEnd()
        .split('\n');
      expect(tsv.slice(3).map((line) => line.split('\t').at(-1))).toEqual(ids);
      const path = join(scratch.repository, '.context/research-sessions', `${session.id}.json`);
      const file = JSON.parse(readFileSync(path, 'utf8')) as {
        iterations: { commanderTaskId: string | null }[];
      };
      expect(file.iterations.map(({ commanderTaskId }) => commanderTaskId)).toEqual([null, ...ids]);

      const events = [];
      for await (const event of pulse.follow(session.id)) events.push(event);
      expect(events.filter(({ type }) => type === 'experiment.status').map(({ data }) => data)).toEqual([
        {
          number: 5,
          text: 'Iteration 5: metric at 80, 2 keeps / 2 discards',
          metric: 80,
          keeps: 2,
          discards: 2,
          crashes: 1,
        },
      ]);
    },
    120_000,
  );

  it('shows an experiment as claimed while it is worked on, under the words that were told last', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const stop = new AbortController();
    const id = await startResearch(pulse, scratch, {
      iterations: 1,
      scripts: { 'exp-1': `${idea('first thought', 90)}\n${idea('second thought', 80)}\nsleep 60` },
    });
    const run = pulse.run(id, stop.signal);
    const isTold = async (): Promise<boolean> => {
      const [task] = await pulse.commander.listTasks({ group_id: id });
      return task?.description === 'Iteration #1: second thought';
    };
    for await (const _ of pulse.follow(id, { onQuiet: isTold }));
    const [task, ...more] = await pulse.commander.listTasks({ group_id: id });
    expect(more).toEqual([]);
    expect(task).toMatchObject({ status: 'claimed', agent_name: 'autoresearch', result: null, comments: [] });
    stop.abort('shutdown');
    await run;
  }, 60_000);

  it('shows an experiment that was aborted as discarded, under the idea that was told', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, {
      scripts: { 'exp-1': idea('cheaper', 90), 'exp-2': `${tell('too slow')}\nsleep 60` },
    });
    const run = pulse.run(id, new AbortController().signal);
    const isTold = async () => (await pulse.commander.listTasks({ group_id: id })).length === 2;
    for await (const _ of pulse.follow(id, { onQuiet: isTold }));
    await pulse.abort(id, { actor: 'test' });
    await run;
    const [, task] = await pulse.commander.listTasks({ group_id: id });
    expect(task).toMatchObject({
      description: 'Iteration #2: too slow',
      status: 'completed',
      result: 'discard: too slow. Metric: 90 → - (delta: -)',
      comments: [{ body: 'Status: discard\nMetric: - (delta: -)\nCommit: -\nDescription: too slow' }],
    });
    const { session, experiments } = await pulse.research.rows(id);
    expect(session.status).toBe('aborted');
    expect(experiments[1]).toMatchObject({ status: 'discard', reason: 'The research was aborted.' });
    const log = scratch.read('autoresearch-results.tsv').trimEnd().split('\n').at(-1);
    expect(log).toBe(`2\t-\t\t\tdiscard\ttoo slow\t${task!.id}`);
    const types = [];
    for await (const { type } of pulse.follow(id)) types.push(type);
    expect(types.slice(-2)).toEqual(['experiment.discarded', 'session.aborted']);
  }, 60_000);

  it('refuses to have a session’s tasks claimed or completed by others, and lets them comment', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session } = await research(pulse, scratch, {
      iterations: 1,
      scripts: { 'exp-1': idea('x', 90) },
    });
    const [task] = await pulse.commander.listTasks({ group_id: session.id });
    const refused = { code: 'invalid_transition', message: expect.stringContaining(session.id) };
    await expect(pulse.commander.claimTask(task!.id, { agent_name: 'me' })).rejects.toMatchObject(refused);
    await expect(pulse.commander.completeTask(task!.id, { result: 'done' })).rejects.toMatchObject(refused);
    const commented = await pulse.commander.commentTask(task!.id, { agent_name: 'me', body: 'Well done.' });
    expect(commented.comments.map(({ number, agent_name }) => [number, agent_name])).toEqual([
      [1, 'autoresearch'],
      [2, 'me'],
    ]);
  }, 60_000);

  it('keeps tasks of others from open over claimed to completed, once', async () => {
    using scratch = createScratch();
    await using pulse = await createPulse({ environment: scratch.environment });
    const { commander } = pulse;
    const { id } = await commander.createTask({ description: 'Look at it', group_id: 'mine' });
    expect(await commander.showTask(id)).toMatchObject({ status: 'open', session_id: null, comments: [] });
    expect(await commander.claimTask(id, { agent_name: 'ann' })).toMatchObject({
      status: 'claimed',
      agent_name: 'ann',
    });
    await expect(commander.claimTask(id, { agent_name: 'bob' })).rejects.toMatchObject({
      code: 'invalid_transition',
    });
    expect(await commander.completeTask(id, { result: 'done' })).toMatchObject({
      status: 'completed',
      result: 'done',
    });
    await expect(commander.completeTask(id, { result: 'other' })).rejects.toMatchObject({
      code: 'invalid_transition',
    });
    await expect(commander.showTask('cmd_none')).rejects.toMatchObject({ code: 'not_found' });
    expect(await commander.listTasks({ group_id: 'other' })).toEqual([]);
    expect(await commander.listTasks({ status: 'completed' })).toHaveLength(1);
  });
});
