/** Several sessions edit at once; measuring and keeping are serial (docs/protocol/research.md, Parallel). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Experiment } from '../../src/loops/research/rows.ts';
import { createPulse } from '../../src/pulse.ts';
import { createScratch } from '../fakes/scratch.ts';
import { prepareLab, RESEARCH, research, startResearch, tell } from './lab.ts';

/** The cost is the sum of two parts, in files of their own, so that two good ideas fit together. */
const PARTS = {
  'src/a': '60\n',
  'src/b': '40\n',
  'src/cost': 'echo $(($(cat src/a) + $(cat src/b)))\n',
};

/** Nobody goes on before all have begun: so each starts from the same best. */
function meet(folder: string, count: number): string {
  return [
    `mkdir -p "${folder}" && touch "${folder}/$PULSE_UNIT"`,
    `while [ "$(ls "${folder}" | wc -l)" -lt ${count} ]; do sleep 0.05; done`,
  ].join('\n');
}

describe('research by several sessions at once', () => {
  it('puts what was made on an older best on top of the new one and measures it there', async () => {
    using scratch = createScratch();
    prepareLab(scratch, PARTS);
    await using pulse = await createPulse({ environment: scratch.environment });
    const together = meet(join(scratch.path, 'begun'), 3);
    const view = await research(pulse, scratch, {
      iterations: 4,
      parallel: 3,
      scripts: {
        'exp-1': `${tell('a cheaper a')}\n${together}\necho 50 > src/a`,
        'exp-2': `${tell('a cheaper b')}\n${together}\necho 30 > src/b`,
        'exp-3': `${tell('a dearer a')}\n${together}\necho 70 > src/a`,
        'exp-4': `${tell('nothing')}`,
      },
    });
    const { session, experiments, research: row, progress } = view;
    expect([session.status, session.stop_reason, session.blocked_reason]).toEqual([
      'complete',
      'iteration_limit',
      null,
    ]);
    expect(experiments.map(({ status }) => status)).toEqual(['keep', 'keep', 'discard', 'discard']);
    expect(row.best).toBe(80);
    expect(progress).toMatchObject({ baseline: 100, metric: 80, keeps: 2, discards: 2 });
    // Both changes, one commit each, one after the other, on the branch of the research.
    const log = scratch.git('log', '--format=%s', `main..${session.branch_name}`).trim().split('\n');
    expect(log.toSorted()).toEqual(['experiment: a cheaper a', 'experiment: a cheaper b']);
    const cost = (file: string) => scratch.git('show', `${session.branch_name}:src/${file}`).trim();
    expect([cost('a'), cost('b')]).toEqual(['50', '30']);
    const results = readFileSync(join(scratch.repository, 'autoresearch-results.tsv'), 'utf8');
    const rows = results
      .trimEnd()
      .split('\n')
      .slice(2)
      .map((line) => line.split('\t'));
    expect(rows.map(([number]) => number).toSorted()).toEqual(['0', '1', '2', '3', '4']);
    const keeps = rows.filter(([, , , , status]) => status === 'keep');
    expect(keeps.map(([, , metric, delta]) => [metric, delta])).toEqual([
      ['90', '-10'],
      ['80', '-10'],
    ]);
    // Nothing of the three is left.
    expect(scratch.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(scratch.git('for-each-ref', 'refs/pulse/attempts', 'refs/pulse/wip')).toBe('');
    expect((await pulse.list({})).sessions).toHaveLength(1);
    const types = [];
    for await (const { type } of pulse.follow(session.id)) types.push(type);
    expect(types.filter((type) => type === 'experiment.started')).toHaveLength(4);
  });

  it('discards what does not fit on what was kept meanwhile', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const together = meet(join(scratch.path, 'begun'), 2);
    const view = await research(pulse, scratch, {
      iterations: 2,
      parallel: 2,
      scripts: {
        'exp-1': `${tell('ninety')}\n${together}\necho 'echo 90' > src/cost`,
        'exp-2': `${tell('eighty')}\n${together}\necho 'echo 80' > src/cost`,
      },
    });
    const statuses = view.experiments.map(({ status }) => status).toSorted();
    expect(statuses).toEqual(['discard', 'keep']);
    const discarded = view.experiments.find(({ status }) => status === 'discard');
    expect(discarded?.reason).toBe('It does not fit on what was kept meanwhile.');
    const ref = `refs/pulse/discarded/${view.session.id}/${discarded?.number}`;
    expect(scratch.git('for-each-ref', ref)).not.toBe('');
  });

  it('pauses, resumes and aborts all of them', async () => {
    using scratch = createScratch();
    prepareLab(scratch, PARTS);
    await using pulse = await createPulse({ environment: scratch.environment });
    const folder = join(scratch.path, 'begun');
    const wait = `mkdir -p "${folder}" && touch "${folder}/$PULSE_UNIT"\n[ -e "${folder}/go" ] || sleep 60`;
    const id = await startResearch(pulse, scratch, {
      iterations: 2,
      parallel: 2,
      scripts: {
        'exp-1': `${tell('a cheaper a')}\n${wait}\necho 50 > src/a`,
        'exp-2': `${tell('a cheaper b')}\n${wait}\necho 30 > src/b`,
      },
    });
    const first = pulse.run(id, new AbortController().signal);
    const both = () => ['exp-1', 'exp-2'].every((unit) => existsSync(join(folder, unit)));
    await expect.poll(both, { timeout: 20_000 }).toBe(true);
    await pulse.pause(id, { actor: 'test', now: true });
    expect(await first).toBe('left');
    expect((await pulse.session(id)).status).toBe('paused');

    scratch.file('begun/go', '');
    await pulse.resume(id, { actor: 'test' });
    await pulse.run(id, new AbortController().signal);
    const { session, experiments } = await pulse.research.rows(id);
    expect([session.status, session.stop_reason, session.blocked_reason]).toEqual([
      'complete',
      'iteration_limit',
      null,
    ]);
    expect(experiments.map(({ status }) => status)).toEqual(['keep', 'keep']);
  });

  it('decides nothing against a best that is none any more', async () => {
    using scratch = createScratch();
    prepareLab(scratch, { ...PARTS, 'measure.sh': '#!/bin/sh\nsleep 0.3\necho "cost: $(sh src/cost)"\n' });
    await using pulse = await createPulse({ environment: scratch.environment });
    const together = meet(join(scratch.path, 'begun'), 2);
    const view = await research(pulse, scratch, {
      iterations: 2,
      parallel: 2,
      scripts: {
        'exp-1': `${tell('a cheaper a')}\n${together}\necho 10 > src/a`,
        'exp-2': `${tell('a dearer b')}\n${together}\necho 41 > src/b`,
      },
    });
    const [first, second] = view.experiments as [Experiment, Experiment];
    expect([first.status, second.status]).toEqual(['keep', 'discard']);
    // What is judged last is judged against what the other left.
    const judgedOn = second.ended_at! < first.ended_at! ? view.session.base_sha : first.commit_hash;
    expect(second.start_sha).toBe(judgedOn);
  });

  it('ends all of them when the target is reached, and tells of what they had in hand', async () => {
    using scratch = createScratch();
    prepareLab(scratch, PARTS);
    await using pulse = await createPulse({ environment: scratch.environment });
    const together = meet(join(scratch.path, 'begun'), 2);
    const view = await research(pulse, scratch, {
      content: { metric: { ...RESEARCH.metric, target: 60 } },
      iterations: 8,
      parallel: 2,
      scripts: {
        'exp-1': `${tell('a free a')}\n${together}\necho 0 > src/a`,
        'exp-2': `${tell('a slow b')}\n${together}\nsleep 60`,
      },
    });
    expect([view.session.status, view.session.stop_reason]).toEqual(['complete', 'completed']);
    expect(view.experiments.map(({ status }) => status)).toEqual(['keep', 'discard']);
    expect(view.experiments[1]?.reason).toBe('The research ended before it was decided.');
    expect(view.experiments[1]?.description).toBe('a slow b');
    const types = [];
    for await (const { type } of pulse.follow(view.session.id)) types.push(type);
    expect(types.slice(-2)).toEqual(['experiment.discarded', 'session.ended']);
    const tasks = await pulse.commander.listTasks({ group_id: view.session.id });
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(scratch.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
  });

  it('aborts all of them', async () => {
    using scratch = createScratch();
    prepareLab(scratch, PARTS);
    await using pulse = await createPulse({ environment: scratch.environment });
    const folder = join(scratch.path, 'begun');
    const wait = `mkdir -p "${folder}" && touch "${folder}/$PULSE_UNIT"\nsleep 60`;
    const id = await startResearch(pulse, scratch, {
      iterations: 2,
      parallel: 2,
      scripts: { 'exp-1': wait, 'exp-2': wait },
    });
    const running = pulse.run(id, new AbortController().signal);
    const both = () => ['exp-1', 'exp-2'].every((unit) => existsSync(join(folder, unit)));
    await expect.poll(both, { timeout: 20_000 }).toBe(true);
    await pulse.abort(id, { actor: 'test' });
    expect(await running).toBe('left');
    const { session, experiments } = await pulse.research.rows(id);
    expect(session.status).toBe('aborted');
    for (const { worker_id } of experiments) expect((await pulse.session(worker_id)).status).toBe('aborted');
    expect(experiments.map(({ status }) => status)).toEqual(['discard', 'discard']);
    const tasks = await pulse.commander.listTasks({ group_id: id });
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(scratch.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
  });

  it('stops for the question of one, and gives that one the answer', async () => {
    using scratch = createScratch();
    prepareLab(scratch, PARTS);
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, {
      iterations: 2,
      parallel: 2,
      scripts: {
        'exp-1': `if grep -q 'use ten' "${scratch.path}/brief-exp-1-$PULSE_ITERATION"; then echo 10 > src/a; else echo '<signal>BLOCKED: which a?</signal>'; fi`,
        'exp-2': `${tell('a cheaper b')}\necho 30 > src/b`,
      },
    });
    await pulse.run(id, new AbortController().signal);
    expect(await pulse.session(id)).toMatchObject({ status: 'blocked', stop_reason: 'blocked_by_agent' });
    await pulse.resume(id, { actor: 'test', answer: 'use ten', timeLimitMs: 3_600_000 });
    await pulse.run(id, new AbortController().signal);
    const { session, experiments, research: row } = await pulse.research.rows(id);
    expect([session.status, session.stop_reason]).toEqual(['complete', 'iteration_limit']);
    expect(experiments.map(({ status }) => status)).toEqual(['keep', 'keep']);
    expect(row.best).toBe(40);
  });

  it('refuses to be more than sixteen, and to command one of them alone', async () => {
    using scratch = createScratch();
    prepareLab(scratch, PARTS);
    await using pulse = await createPulse({ environment: scratch.environment });
    await expect(startResearch(pulse, scratch, { parallel: 17, scripts: {} })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    const view = await research(pulse, scratch, { iterations: 1, parallel: 2, scripts: { 'exp-1': 'true' } });
    const worker = view.experiments[0]!.worker_id;
    await expect(pulse.abort(worker, { actor: 'test' })).rejects.toMatchObject({ code: 'wrong_command' });
  });
});
