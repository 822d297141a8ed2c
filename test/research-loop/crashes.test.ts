/** What becomes of an experiment whose measurement breaks, by its kind (docs/protocol/research.md, Crashes). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createScratch } from '../fakes/scratch.ts';
import { brief, idea, prepareLab, research, startResearch, tell } from './lab.ts';

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}/stat`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
}

describe('a measurement that hangs', () => {
  it('is ended with all it started, and its idea is refused from then on; a smaller variant is asked for after a lack of memory', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    const [pids, refused, accepted] = ['pids', 'refused', 'accepted'].map((name) => join(scratch.path, name));
    const endless = `sleep 1000 & echo $! >> '${pids}'; setsid sleep 1000 & echo $! >> '${pids}'; wait`;
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments, progress } = await research(pulse, scratch, {
      iterations: 4,
      scripts: {
        'exp-1': idea('Wait for the end of time', endless),
        'exp-2': `${tell('wait for the end of the time!', refused)}; ${idea('use more memory', 'echo "JavaScript heap out of memory" >&2; exit 134')}`,
        'exp-3': `${tell('use more memory', accepted)}; ${idea('ask somebody', 'echo "connect ECONNREFUSED 10.0.0.1" >&2; exit 1')}`,
        'exp-4': idea('cheaper', 50),
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ status, crashes, metric }) => [status, crashes, metric])).toEqual([
      ['crash', ['hang'], null],
      ['crash', ['oom'], null],
      ['crash', ['external'], null],
      ['keep', [], 50],
    ]);
    expect(experiments.map(({ runs }) => runs)).toEqual([1, 1, 1, 1]);
    expect(progress).toMatchObject({ crashes: 3 });
    // Held to what the earlier readings took, five seconds more, and not to the ten minutes of the first.
    const [hung] = experiments;
    expect(Date.parse(hung!.ended_at!) - Date.parse(hung!.started_at)).toBeLessThan(45_000);

    const left = readFileSync(pids!, 'utf8').trim().split('\n').map(Number);
    expect(left).toHaveLength(2);
    expect(left.filter(isAlive)).toEqual([]);
    expect(JSON.parse(readFileSync(refused!, 'utf8')).ok).toBe(false);
    // Only what hung is banned; what ran out of memory may come again, smaller.
    expect(JSON.parse(readFileSync(accepted!, 'utf8')).ok).toBe(true);
    expect(brief(scratch, 'exp-2', 3)).toContain('It ran over the time limit: avoid that approach.');
    expect(brief(scratch, 'exp-3', 4)).toContain('try a smaller variant');
    expect(brief(scratch, 'exp-4', 5)).toContain('try a different approach');
    const log = readFileSync(join(scratch.repository, 'autoresearch-results.tsv'), 'utf8').split('\n');
    expect(log[3]).toMatch(/^1\t-\t\t\tcrash\tWait for the end of time\tcmd_[0-9a-f]{16}$/);
  }, 120_000);
});

describe('a measurement that breaks', () => {
  it('is mended in the same experiment: syntax errors do not use up the three tries of others', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    const count = join(scratch.path, 'count');
    const step = `echo x >> '${count}'; n=$(wc -l < '${count}')`;
    const syntax = `echo "SyntaxError: Unexpected token" >&2; exit 1`;
    await using pulse = await createPulse({ environment: scratch.environment });
    const { experiments } = await research(pulse, scratch, {
      iterations: 1,
      scripts: {
        'exp-1': `${step}; ${tell('break it again and again')}
case $n in
1|3|5|7) cat > src/cost <<'EOT'
: $n; ${syntax}
EOT
echo ": $n" >> src/cost ;;
2|4|6) echo ": $n; echo boom >&2; exit 1" > src/cost ;;
*) echo "echo 50" > src/cost ;;
esac`,
      },
    });
    expect(experiments).toMatchObject([
      {
        status: 'keep',
        metric: 50,
        runs: 8,
        crashes: ['syntax', 'runtime', 'syntax', 'runtime', 'syntax', 'runtime', 'syntax'],
        description: 'break it again and again',
      },
    ]);
    expect(scratch.git('log', '--format=%s', '--all', '--grep', 'experiment:')).toBe(
      'experiment: break it again and again',
    );
  }, 60_000);

  it('is given up after ten syntax errors', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { experiments } = await research(pulse, scratch, {
      iterations: 1,
      scripts: {
        'exp-1': `${tell('never valid')}; echo "echo SyntaxError: $PULSE_ITERATION >&2; exit 1" > src/cost`,
      },
    });
    expect(experiments).toMatchObject([{ status: 'crash', runs: 11, metric: null }]);
  }, 60_000);
});

describe('a measurement that breaks after good readings', () => {
  it('is a crash of its kind, not a number that is missing', async () => {
    using scratch = createScratch();
    // A metric with noise, so that a candidate is read more than once.
    const count = join(scratch.path, 'readings');
    prepareLab(scratch, {
      'measure.sh': `#!/bin/sh
echo x >> '${count}'; n=$(wc -l < '${count}')
cost=$(sh src/cost) || exit $?
echo "cost: $((cost + n % 3))"
`,
    });
    const second = (what: string) => {
      const own = join(scratch.path, what);
      return `echo x >> '${own}'; test "$(wc -l < '${own}')" -lt 2 || { ${what}; exit 1; }; echo 50`;
    };
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 2,
      scripts: {
        'exp-1': idea('out of memory at the second', second('echo MemoryError >&2')),
        'exp-2': idea('hang at the second', second('sleep 1000')),
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ status, crashes, metric }) => [status, crashes, metric])).toEqual([
      ['crash', ['oom'], null],
      ['crash', ['hang'], null],
    ]);
  }, 120_000);
});

describe('a change that breaks the setup', () => {
  const BROKEN = {
    content: {
      setup: ['test "$(cat go.sum)" != broken || { echo no such version; exit 1; }'],
      scope: { inScope: ['src/**', 'go.sum'] },
    },
    files: { 'go.sum': 'v1\n' },
  };

  it('is a crash of its experiment, not the end of the session', async () => {
    using scratch = createScratch();
    prepareLab(scratch, BROKEN.files);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 2,
      content: BROKEN.content,
      scripts: {
        'exp-1': `${idea('another version', 50)}\necho broken > go.sum`,
        'exp-2': idea('cheaper', 90),
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ status, crashes, runs }) => [status, crashes, runs])).toEqual([
      ['crash', ['external'], 1],
      ['keep', [], 1],
    ]);
    expect(experiments[0]!.reason).toMatch(/^external: Setup failed: test .*no such version/s);
    expect(brief(scratch, 'exp-2', 3)).toContain('try a different approach');
  }, 60_000);

  it('ends its experiment also where it waits for its next run', async () => {
    using scratch = createScratch();
    prepareLab(scratch, BROKEN.files);
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, {
      iterations: 2,
      content: BROKEN.content,
      scripts: {
        'exp-1': `${idea('another version', 50)}\necho broken > go.sum; echo '<signal>BLOCKED: may I?</signal>'`,
        'exp-2': idea('cheaper', 90),
      },
    });
    await pulse.run(id, new AbortController().signal);
    expect((await pulse.session(id)).status).toBe('blocked');
    await pulse.resume(id, { actor: 'test', answer: 'yes' });
    await pulse.run(id, new AbortController().signal);
    const { session, experiments } = await pulse.research.rows(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments).toMatchObject([
      { status: 'crash', crashes: ['external'], description: 'another version', metric: null },
      { status: 'keep', metric: 90 },
    ]);
    expect(scratch.git('for-each-ref', `refs/pulse/discarded/${id}/1`)).not.toBe('');
    expect(scratch.git('for-each-ref', 'refs/pulse/wip')).toBe('');
  }, 60_000);
});
