/** Pausing, going on, running out of budget, finishing, and the files of several sessions. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { idea, prepareLab, RESEARCH, research, startResearch } from './lab.ts';

const { signal } = new AbortController();
const PERSON = { actor: 'test' };

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 20) {
    if (waited > 40_000) throw new Error(`waited in vain: ${what}`);
    await sleep(20);
  }
}

function sessionFile(scratch: Scratch, id: string) {
  const path = join(scratch.repository, '.context/research-sessions', `${id}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as { status: string; iterations: unknown[] };
}

function rows(scratch: Scratch, path = 'autoresearch-results.tsv'): string[] {
  return readFileSync(join(scratch.repository, path), 'utf8').trimEnd().split('\n').slice(2);
}

describe('a session that is paused while it measures', () => {
  it('goes on with the commit it has: the agent is not run again', async () => {
    using scratch = createScratch();
    const [gate, began, runs] = ['gate', 'began', 'runs'].map((name) => join(scratch.path, name)) as [
      string,
      string,
      string,
    ];
    prepareLab(scratch);
    writeFileSync(gate, '');
    const slow = `echo $$ >> '${began}'; while [ -e '${gate}' ]; do sleep 0.05; done; echo 90`;
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, {
      iterations: 2,
      scripts: {
        'exp-1': `echo run >> '${runs}'\n${idea('slow but cheap', slow)}`,
        'exp-2': `echo run >> '${runs}'\n${idea('cheaper', 80)}`,
      },
    });
    const run = pulse.run(id, signal);
    await until('the candidate is measured', () => existsSync(began));
    await pulse.pause(id, { ...PERSON, now: true });
    await run;
    const paused = await pulse.research.rows(id);
    expect(paused.session).toMatchObject({ status: 'paused', stop_reason: 'paused_by_user' });
    expect(paused.experiments).toMatchObject([{ number: 1, status: 'running' }]);
    expect(rows(scratch)).toHaveLength(1);
    const [pid] = readFileSync(began, 'utf8').trim().split('\n');
    await until('what was measured is ended', () => !existsSync(`/proc/${pid}`));

    rmSync(gate);
    await pulse.resume(id, PERSON);
    await pulse.run(id, signal);
    const { session, experiments } = await pulse.research.rows(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ status, metric }) => [status, metric])).toEqual([
      ['keep', 90],
      ['keep', 80],
    ]);
    expect(readFileSync(runs, 'utf8').trim().split('\n')).toHaveLength(2);
    expect(rows(scratch)).toHaveLength(3);
    expect(scratch.git('log', '--format=%s', `main..${session.branch_name}`).split('\n')).toHaveLength(2);
  }, 90_000);
});

describe('a session with a budget', () => {
  it('stops when it is used up, with what was decided until then, and goes on when it is raised', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    const usage = `pulse tool report_usage '{"inputTokens": 600}' > /dev/null`;
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, {
      iterations: 3,
      budgetTokens: 1_000,
      scripts: {
        'exp-1': `${usage}\n${idea('one', 90)}`,
        'exp-2': `${usage}; sleep 0.3\n${idea('two', 80)}`,
        'exp-3': idea('three', 70),
      },
    });
    await pulse.run(id, signal);
    const stopped = await pulse.research.rows(id);
    expect(stopped.session).toMatchObject({ status: 'blocked', stop_reason: 'budget_tokens' });
    expect(stopped.experiments[0]).toMatchObject({ status: 'keep', metric: 90 });

    await pulse.resume(id, { ...PERSON, budgetTokens: 100_000 });
    await pulse.run(id, signal);
    const { session, experiments } = await pulse.research.rows(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ metric }) => metric)).toEqual([90, 80, 70]);
  }, 90_000);
});

describe('finish', () => {
  it('changes the session file and not the session', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session } = await research(pulse, scratch, {
      iterations: 1,
      scripts: { 'exp-1': idea('dearer', 120) },
    });
    expect(sessionFile(scratch, session.id)).toMatchObject({ status: 'researching' });
    await pulse.research.finish(session.id, { how: 'pause', ...PERSON });
    expect(sessionFile(scratch, session.id)).toMatchObject({ status: 'paused' });
    await pulse.research.finish(session.id, { how: 'done', ...PERSON });
    const file = sessionFile(scratch, session.id);
    expect(file.status).toBe('complete');
    expect(file.iterations).toHaveLength(2);
    expect((await pulse.show(session.id)).session).toEqual(session);
  }, 60_000);

  it('writes the file of a session that is only paused, too', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, {
      scripts: { 'exp-1': idea('dearer', 120), 'exp-2': 'echo "<signal>BLOCKED: which way?</signal>"' },
    });
    await pulse.run(id, signal);
    expect((await pulse.show(id)).session.status).toBe('blocked');
    await pulse.research.finish(id, { how: 'pause', ...PERSON });
    const file = sessionFile(scratch, id);
    expect(file.status).toBe('paused');
    expect(file.iterations).toHaveLength(2);
  }, 60_000);
});

describe('the files of several sessions', () => {
  it('show the newest in the root, while each keeps its own and the plans stay', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const first = await research(pulse, scratch, { iterations: 1, scripts: { 'exp-1': idea('one', 90) } });
    const before = rows(scratch);
    const second = await research(pulse, scratch, {
      iterations: 2,
      content: { goal: 'Lower it further', metric: { ...RESEARCH.metric, name: 'price' } },
      scripts: { 'exp-1': idea('two', 60), 'exp-2': idea('three', 61) },
    });
    const own = (id: string): string => `.context/research-sessions/${id}.tsv`;
    expect(rows(scratch, own(first.session.id))).toEqual(before);
    expect(rows(scratch)).toEqual(rows(scratch, own(second.session.id)));
    expect(rows(scratch).map((line) => line.split('\t')[5])).toEqual(['baseline', 'two', 'three']);
    const plan = readFileSync(join(scratch.repository, '.context/autoresearch-plan.md'), 'utf8');
    expect(plan).toContain(first.session.id);
    expect(plan).toContain(second.session.id);
    expect(scratch.git('status', '--porcelain')).toBe('');
  }, 60_000);
});
