/** Whole research sessions: real git, real measuring, a shell agent with good, bad, crashing and cheating ideas. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

/** The metric is what src/cost holds, as measure.sh prints it: exact, so that one reading decides. */
function prepare(scratch: Scratch): void {
  const write = (path: string, text: string): void =>
    writeFileSync(join(scratch.repository, path), text, { mode: 0o755 });
  mkdirSync(join(scratch.repository, 'src'));
  write('src/cost', '100\n');
  write(
    'measure.sh',
    '#!/bin/sh\ntest "$(cat src/cost)" != broken || { echo "boom" >&2; exit 1; }\necho "cost: $(cat src/cost)"\n',
  );
  write('guard.sh', '#!/bin/sh\ntest ! -f src/bad || { echo "not ok 1 - src/bad is there"; exit 1; }\n');
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', 'chore: what is measured');
}

const RESEARCH = {
  goal: 'Lower the cost',
  metric: { name: 'cost', direction: 'lower', verifyCommand: './measure.sh', pattern: '^cost: (.*)$' },
  guard: './guard.sh',
  scope: { inScope: ['src/**'] },
  strategy: ['make it cheaper', 'use a cache'],
};

/** Each experiment runs its own script. */
function agentOf(scratch: Scratch, scripts: Record<string, string>): string {
  const cases = Object.entries(scripts).map(([unit, body]) => `${unit})\n${body}\n;;`);
  return scratch.file(
    'agent.sh',
    `#!/bin/sh\ncat > "${scratch.path}/brief-$PULSE_UNIT-$PULSE_ITERATION"\ncase "$PULSE_UNIT" in\n${cases.join('\n')}\nesac\nexit 0\n`,
  );
}

const describeIdea = (text: string): string =>
  `pulse tool experiment_describe '${JSON.stringify({ description: text })}' > /dev/null`;

async function research(
  pulse: Pulse,
  scratch: Scratch,
  options: { content?: object; scripts: Record<string, string>; iterations: number },
) {
  const { session } = await pulse.research.start({
    content: { ...RESEARCH, ...options.content },
    iterations: options.iterations,
    path: scratch.repository,
    command: agentOf(scratch, options.scripts),
    createdBy: 'cli',
  });
  await pulse.run(session.id, new AbortController().signal);
  return pulse.research.rows(session.id);
}

describe('a research session', () => {
  it('keeps what helps, discards the rest, names each cheat, and ends with the log', async () => {
    using scratch = createScratch();
    prepare(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments, progress, final } = await research(pulse, scratch, {
      iterations: 9,
      scripts: {
        'exp-1': `${describeIdea('make it cheaper')}; echo 90 > src/cost`,
        'exp-2': `${describeIdea('make it dearer')}; echo 95 > src/cost`,
        'exp-3': `${describeIdea('change the measure')}; echo 'echo "cost: 1"' > measure.sh`,
        'exp-4': `${describeIdea('change the readme')}; echo x > README.md; echo 80 > src/cost`,
        'exp-5': `${describeIdea('print it twice')}; printf '70\\ncost: 1\\n' > src/cost`,
        'exp-6': `${describeIdea('break the guard')}; echo 70 > src/cost; echo x > src/bad`,
        'exp-7': `${describeIdea('break and mend')}; if [ "$(cat src/cost)" = broken ]; then echo 85 > src/cost; else echo broken > src/cost; fi`,
        'exp-8': `${describeIdea('change nothing')}`,
        'exp-9': `pulse tool experiment_describe '{"description":"Make it dearer!"}' > "${scratch.path}/refused.json"; ${describeIdea('even cheaper')}; echo 60 > src/cost`,
      },
    });
    // A metric is pushed for as long as its person likes.
    expect(session.time_limit_ms).toBeNull();
    expect(session).toMatchObject({ status: 'complete', stop_reason: 'iteration_limit', total_commits: 3 });
    expect(experiments.map(({ status }) => status)).toEqual([
      'keep',
      'discard',
      'discard',
      'discard',
      'discard',
      'discard',
      'keep',
      'discard',
      'keep',
    ]);
    expect(experiments.map(({ metric }) => metric)).toEqual([90, 95, null, null, null, 70, 85, null, 60]);
    expect(experiments[2]!.reason).toContain('measure.sh');
    expect(experiments[3]!.reason).toContain('README.md');
    expect(experiments[4]!.reason).toContain('matched 2 times');
    expect(experiments[5]!.reason).toMatch(/guard.*not ok 1 - src\/bad is there/);
    expect(experiments[6]).toMatchObject({ runs: 2, crashes: ['runtime'], description: 'break and mend' });
    expect(experiments[7]!.reason).toContain('changed nothing');
    expect(JSON.parse(readFileSync(join(scratch.path, 'refused.json'), 'utf8')).ok).toBe(false);

    const subjects = scratch.git(
      'log',
      '--reverse',
      '--format=%s|%(trailers:key=Pulse-Experiment,valueonly,separator=)',
      `${session.base_sha}..${session.branch_name}`,
    );
    expect(subjects.split('\n')).toEqual([
      'experiment: make it cheaper|1',
      'experiment: break and mend|7',
      'experiment: even cheaper|9',
    ]);
    expect(scratch.git('show', `${session.branch_name}:src/cost`)).toBe('60');
    const refs = scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse').split('\n');
    expect(refs).toEqual([2, 3, 4, 5, 6].map((n) => `refs/pulse/discarded/${session.id}/${n}`));

    const tsv = readFileSync(join(scratch.repository, 'autoresearch-results.tsv'), 'utf8').split('\n');
    expect(tsv[0]).toBe('# metric_direction: lower_is_better');
    expect(tsv[1]).toBe('iteration\tcommit\tmetric\tdelta\tstatus\tdescription\tcommander_task_id');
    expect(tsv[2]).toMatch(/^0\t[0-9a-f]{7}\t100\t\tbaseline\tbaseline\t$/);
    expect(tsv[3]).toMatch(/^1\t[0-9a-f]{7}\t90\t-10\tkeep\tmake it cheaper\tcmd_[0-9a-f]{16}$/);
    expect(tsv[4]).toMatch(/^2\t-\t95\t\+5\tdiscard\tmake it dearer\tcmd_[0-9a-f]{16}$/);
    expect(tsv).toHaveLength(13);
    const own = join(scratch.repository, '.context/research-sessions', session.id);
    expect(readFileSync(`${own}.tsv`, 'utf8')).toBe(tsv.join('\n'));
    const file = JSON.parse(readFileSync(`${own}.json`, 'utf8'));
    expect(file).toMatchObject({ id: session.id, metric: { baseline: 100, final: 60 } });
    expect(file.iterations).toHaveLength(10);
    expect(existsSync(join(scratch.repository, '.context/autoresearch-plan.md'))).toBe(true);
    expect(scratch.git('status', '--porcelain')).toBe('');
    expect(scratch.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);

    expect(progress).toMatchObject({ keeps: 3, discards: 6, crashes: 0 });
    expect(final).toEqual([
      '=== Autoresearch Complete (9/9 iterations) ===',
      'Baseline: 100 -> Final: 60 (-40)',
      'Keeps: 3 | Discards: 6 | Crashes: 0',
      'Best iteration: #9 — even cheaper',
    ]);
    const html = await pulse.research.report(session.id);
    expect(html).toContain('Autoresearch Complete: Lower the cost');
    expect(html).toContain('even cheaper');
  }, 120_000);

  it('ends at the target, and a broken measurement that is not mended is a crash without a metric', async () => {
    using scratch = createScratch();
    prepare(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 5,
      content: { metric: { ...RESEARCH.metric, target: 50 } },
      scripts: {
        'exp-1': `echo "Break it."; echo broken > src/cost; echo "$PULSE_ITERATION" >> src/tries`,
        'exp-2': 'echo Halve it.; echo 50 > src/cost',
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({
      status: 'complete',
      stop_reason: 'completed',
    });
    expect(experiments[0]).toMatchObject({
      status: 'crash',
      metric: null,
      runs: 4,
      description: 'Break it.',
    });
    expect(experiments[1]).toMatchObject({ status: 'keep', metric: 50 });
    expect(scratch.git('show', `${session.branch_name}:src/cost`)).toBe('50');
    expect(readFileSync(join(scratch.path, 'brief-exp-1-3'), 'utf8')).toContain('boom');
  }, 120_000);

  it('fails when the baseline cannot be measured, with what was printed', async () => {
    using scratch = createScratch();
    prepare(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session } = await research(pulse, scratch, {
      iterations: 1,
      content: { metric: { ...RESEARCH.metric, verifyCommand: 'echo oh no; exit 3' } },
      scripts: {},
    });
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'preflight_failed' });
    expect(session.blocked_reason).toContain('oh no');
  });

  it('tells every fault of the file at once and creates nothing', async () => {
    using scratch = createScratch();
    prepare(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const wrong = pulse.research.start({
      content: { goal: '', metric: { name: 'x', direction: 'sideways' } },
      path: scratch.repository,
      command: 'true',
      createdBy: 'cli',
    });
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_input',
      hint: expect.stringContaining('direction'),
    });
    expect((await pulse.list({})).sessions).toEqual([]);
  });
});
