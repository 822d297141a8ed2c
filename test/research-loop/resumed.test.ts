/** Research that stopped in the middle and goes on: nothing lands unmeasured, and what is compared is what is there. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createScratch } from '../fakes/scratch.ts';
import { brief, idea, prepareLab, research, startResearch, tell } from './lab.ts';

const forever = () => new AbortController().signal;

describe('research that goes on', () => {
  it('keeps a change that a budget cut short off the branch until it is measured', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const view = await research(pulse, scratch, {
      iterations: 2,
      budgetTokens: 1_000,
      scripts: {
        'exp-1': `${idea('worse', 500)}\npulse tool report_usage '{"inputTokens": 5000, "outputTokens": 1}' > /dev/null\nsleep 20`,
      },
    });
    expect(view.session).toMatchObject({ status: 'blocked', stop_reason: 'budget_tokens', total_commits: 0 });
    expect(scratch.git('rev-parse', view.session.branch_name)).toBe(view.session.base_sha);
    expect(view.research).toMatchObject({ best: 100, baseline: 100 });

    await pulse.resume(view.session.id, { actor: 'test', budgetTokens: 1_000_000 });
    await pulse.run(view.session.id, forever());
    const after = await pulse.research.rows(view.session.id);
    expect(after.experiments.map(({ status }) => status)).toEqual(['discard', 'discard']);
    expect(after.research.best).toBe(100);
  });

  it('knows a change that landed before the runner failed, also after a resume', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    let isBroken = true;
    const id = await (async () => {
      await using pulse = await createPulse({
        environment: scratch.environment,
        trace: (point) => {
          if (isBroken && point === 'land:after') throw new Error('died here');
        },
      });
      const started = await startResearch(pulse, scratch, {
        iterations: 1,
        scripts: { 'exp-1': idea('cheaper', 50) },
      });
      await pulse.run(started, forever());
      expect((await pulse.session(started)).status).toBe('failed');
      isBroken = false;
      return started;
    })();
    await using pulse = await createPulse({ environment: scratch.environment });
    await pulse.resume(id, { actor: 'test' });
    await pulse.run(id, forever());
    const { session, experiments, research: row } = await pulse.research.rows(id);
    expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
    expect(experiments.map(({ status }) => status)).toEqual(['keep']);
    expect(row.best).toBe(50);
  });

  it('reads the best again when a person has committed on the branch meanwhile', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const marker = join(scratch.path, 'begun');
    const id = await startResearch(pulse, scratch, {
      iterations: 2,
      scripts: {
        'exp-1': `touch "${marker}"\n[ -e "${marker}.go" ] || sleep 60`,
        'exp-2': `${tell('nothing at all')}\necho '# words' >> src/cost`,
      },
    });
    const running = pulse.run(id, forever());
    await expect.poll(() => existsSync(marker), { timeout: 20_000 }).toBe(true);
    await pulse.pause(id, { actor: 'test', now: true });
    await running;
    const { branch_name: branch } = await pulse.session(id);
    scratch.git('switch', '-q', branch);
    writeFileSync(join(scratch.repository, 'src/cost'), 'echo 60\n');
    scratch.git('commit', '-q', '-am', 'perf: by hand');
    scratch.git('switch', '-q', 'main');
    writeFileSync(`${marker}.go`, '');
    await pulse.resume(id, { actor: 'test' });
    await pulse.run(id, forever());
    const { session, experiments, research: row } = await pulse.research.rows(id);
    expect([session.status, session.blocked_reason]).toEqual(['complete', null]);
    expect(experiments.map(({ status }) => status)).toEqual(['discard', 'discard']);
    expect(row).toMatchObject({ baseline: 100, best: 60 });
    expect(brief(scratch, 'exp-1', 2)).toContain(
      `This run was begun before and broke off: stopped by a person. What it left, if anything, is kept under refs/pulse/recovery/${id}/2.1`,
    );
  });

  it('reads the best again on another host: readings of different hosts are never compared', async () => {
    using scratch = createScratch();
    const far = join(scratch.path, 'far');
    prepareLab(scratch, {
      'measure.sh': `#!/bin/sh\nadd=0; [ ! -e '${far}' ] || add=1000\necho "cost: $(($(sh src/cost) + add))"\n`,
    });
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, {
      iterations: 2,
      scripts: {
        'exp-1': idea('cheaper', 90),
        'exp-2': `if grep -q 'go on' "${scratch.path}/brief-exp-2-$PULSE_ITERATION"; then ${tell('cheaper still')}; echo 'echo 80' > src/cost; else echo '<signal>BLOCKED: may I?</signal>'; fi`,
      },
    });
    await pulse.run(id, forever());
    expect((await pulse.session(id)).status).toBe('blocked');
    // As if all of it had been read on a host whose figures are other ones.
    const database = new DatabaseSync(pulse.home.database);
    database.prepare('UPDATE researches SET host = ?').run('elsewhere.example');
    database.close();
    writeFileSync(far, '');
    await pulse.resume(id, { actor: 'test', answer: 'go on' });
    await pulse.run(id, forever());
    const { session, experiments, research: row } = await pulse.research.rows(id);
    expect([session.status, session.blocked_reason]).toEqual(['complete', null]);
    expect(experiments.map(({ status, metric, delta }) => [status, metric, delta])).toEqual([
      ['keep', 90, -10],
      ['keep', 1080, -10],
    ]);
    expect(row.host).not.toBe('elsewhere.example');
    const { iterations } = await pulse.show(id);
    expect(iterations.map(({ unit }) => unit)).toEqual(['baseline', 'exp-1', 'exp-2', 'baseline', 'exp-2']);
  });
});
