/** Each cheat is discarded and named (docs/protocol/research.md, Violations); the next reading sees nothing it left. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createScratch } from '../fakes/scratch.ts';
import { idea, prepareLab, RESEARCH, research, tell } from './lab.ts';

const LEFT = ['"$TMPDIR/left"', '"$XDG_CACHE_HOME/left"', '"$XDG_STATE_HOME/left"'];

/** As `[what it does, script, the reason it is discarded for]`. */
const CHEATS: [string, string, RegExp][] = [
  [
    'changes a file that the command names',
    `${tell('measure less')}; echo 'echo "cost: 1"' > measure.sh`,
    /changed what measures it: measure\.sh/,
  ],
  [
    'changes a file that the held-out command names',
    `${idea('agree with me', 50)}\necho 'exit 0' > held-out.sh`,
    /changed what measures it: held-out\.sh/,
  ],
  [
    'changes a read-only file',
    `${idea('ease the data', 50)}\necho 1 > src/data/input`,
    /changed what measures it: src\/data\/input/,
  ],
  [
    'changes what is nowhere in scope',
    `${idea('change the manual', 50)}\necho x > README.md`,
    /changed files out of scope: README\.md/,
  ],
  [
    'changes what is taken out of the scope',
    `${idea('change what is generated', 50)}\necho x > src/generated`,
    /changed files out of scope: src\/generated/,
  ],
  [
    'leaves a new file in the checkout',
    idea('remember in a file', 'echo 50 > memory; cat memory'),
    /left state outside its commit: memory/,
  ],
  [
    'changes a tracked file while it is measured',
    idea('write to the input', 'echo 1 > src/data/input; echo 50'),
    /left state outside its commit: src\/data\/input/,
  ],
  ['prints the metric twice', idea('print it twice', 'echo 50; echo "cost: 40"'), /pattern matched 2 times/],
  ['breaks the guard', idea('break what it does', 'echo 40'), /guard command failed/],
  ['knows the question by heart', idea('know the answer', 'echo 30'), /confirm command does not agree/],
];

describe('a cheat', () => {
  it('is discarded and named, whatever it measured', async () => {
    using scratch = createScratch();
    prepareLab(scratch, {
      'src/data/input': '10\n',
      'src/generated': 'by a tool\n',
      'guard.sh': '#!/bin/sh\ntest "$(sh src/cost)" != 40\n',
      'held-out.sh': '#!/bin/sh\ntest "$(sh src/cost)" != 30\n',
    });
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments, progress } = await research(pulse, scratch, {
      iterations: CHEATS.length + 1,
      content: {
        guard: './guard.sh',
        confirm: 'sh ./held-out.sh',
        scope: { inScope: ['src/**'], readOnly: ['src/data/**'], outOfScope: ['src/generated'] },
      },
      scripts: {
        ...Object.fromEntries(CHEATS.map(([, script], index) => [`exp-${index + 1}`, script])),
        [`exp-${CHEATS.length + 1}`]: idea('an honest one', 50),
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 1 });
    expect(
      CHEATS.map(([what], index) => [what, experiments[index]!.status, experiments[index]!.reason]),
    ).toEqual(CHEATS.map(([what, , reason]) => [what, 'discard', expect.stringMatching(reason)]));
    // The same figure, honestly: nothing of the cheats was left in the way.
    expect(experiments.at(-1)).toMatchObject({ status: 'keep', metric: 50 });
    expect(progress).toMatchObject({ keeps: 1, discards: CHEATS.length, crashes: 0 });
  }, 120_000);

  it('gains nothing by what it leaves in temporary, cache and state folders', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    const touch = LEFT.map((file) => `echo 1 > ${file}`).join('; ');
    const use = LEFT.map((file) => `test ! -e ${file} || { echo 1; exit 0; }`).join('; ');
    await using pulse = await createPulse({ environment: scratch.environment });
    const { experiments } = await research(pulse, scratch, {
      iterations: 2,
      scripts: {
        'exp-1': idea('leave a mark everywhere', `${touch}; echo 100`),
        'exp-2': idea('be cheap where the mark is', `${use}; echo 100`),
      },
    });
    expect(experiments).toMatchObject([
      { status: 'discard', metric: 100 },
      { status: 'discard', metric: 100 },
    ]);
  }, 60_000);

  it('gains nothing by what it leaves in HOME where that is isolated', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: { ...scratch.environment, HOME: scratch.path } });
    const { experiments } = await research(pulse, scratch, {
      iterations: 2,
      content: { metric: { ...RESEARCH.metric, isolate: true } },
      scripts: {
        'exp-1': idea('leave a mark at home', 'echo 1 > "$HOME/mark"; echo 100'),
        'exp-2': idea(
          'be cheap where the mark is',
          'test ! -e "$HOME/mark" || { echo 1; exit 0; }; echo 100',
        ),
      },
    });
    expect(experiments.map(({ metric }) => metric)).toEqual([100, 100]);
  }, 60_000);

  it('gains nothing by what git ignores: that goes before the next reading', async () => {
    using scratch = createScratch();
    prepareLab(scratch, { '.gitignore': 'cache/\n' });
    await using pulse = await createPulse({ environment: scratch.environment });
    const { experiments } = await research(pulse, scratch, {
      iterations: 2,
      scripts: {
        'exp-1': idea('fill the cache', 'mkdir -p cache; echo 1 > cache/it; echo 100'),
        'exp-2': idea('use the cache', 'test ! -e cache/it || { echo 1; exit 0; }; echo 100'),
      },
    });
    expect(experiments.map(({ metric }) => metric)).toEqual([100, 100]);
  }, 60_000);

  it('gains nothing by what it writes to, changes in or takes from what setup made', async () => {
    using scratch = createScratch();
    prepareLab(scratch, { '.gitignore': 'deps/\nempty/\n' });
    const old = '2001-01-01T00:00:00';
    const use = [
      'test -d empty || { echo 1; exit 0; }',
      'test ! -e deps/answer || { echo 2; exit 0; }',
      'test ! -e empty/answer || { echo 3; exit 0; }',
      'test "$(cat deps/lib/code)" = one || { echo 4; exit 0; }',
      'test -x deps/tool || { echo 5; exit 0; }',
      'test "$(readlink deps/link)" = lib || { echo 6; exit 0; }',
    ].join('\n');
    const spoil = [
      'mkdir -p deps/new; echo 1 > deps/answer; echo 1 > empty/answer; echo 1 > deps/new/file',
      // As long as before, and with its time put back.
      `echo two > deps/lib/code; touch -d ${old} deps/lib/code`,
      'rm -f deps/tool; ln -sfn new deps/link; rmdir empty || rm -rf empty',
    ].join('; ');
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 3,
      content: {
        setup: [
          'mkdir -p deps/lib empty && echo one > deps/lib/code',
          `echo tool > deps/tool && chmod +x deps/tool && ln -s lib deps/link && touch -d ${old} deps/lib/code`,
        ],
      },
      scripts: {
        'exp-1': idea('spoil what is there', `${use}\n${spoil}\necho 100`),
        'exp-2': idea('be cheap where it is spoilt', `${use}\necho 100`),
        'exp-3': idea('an honest one', `${use}\necho 90`),
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ status, metric, reason }) => [status, metric, reason])).toEqual([
      ['discard', 100, expect.stringContaining('No improvement')],
      ['discard', 100, expect.stringContaining('No improvement')],
      ['keep', 90, expect.any(String)],
    ]);
    // Of the two checkouts for measuring none, nor what was kept of them, is left.
    expect(scratch.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    const left = readdirSync(scratch.path, { recursive: true, encoding: 'utf8' });
    expect(left.filter((path) => /\.(?:candidate|best)(?:\.prepared)?$/.test(path))).toEqual([]);
  }, 60_000);

  it('gains nothing by what a lockfile of its own brought', async () => {
    using scratch = createScratch();
    prepareLab(scratch, { '.gitignore': 'deps/\n', 'go.sum': 'slow\n' });
    await using pulse = await createPulse({ environment: scratch.environment });
    const use = 'if test -e deps/quick; then echo 1; else echo 100; fi';
    const { experiments } = await research(pulse, scratch, {
      iterations: 2,
      content: {
        setup: ['mkdir -p deps && touch "deps/$(cat go.sum)"'],
        guard: 'false',
        scope: { inScope: ['src/**', 'go.sum'] },
      },
      scripts: {
        'exp-1': `${idea('bring something quick', use)}\necho quick > go.sum`,
        'exp-2': idea('use what was brought', use),
      },
    });
    expect(experiments.map(({ metric }) => metric)).toEqual([1, 100]);
  }, 60_000);

  it('gains nothing by what the agent leaves in its own worktree beside the commit', async () => {
    using scratch = createScratch();
    prepareLab(scratch, { '.gitignore': 'cache/\n' });
    await using pulse = await createPulse({ environment: scratch.environment });
    const { experiments } = await research(pulse, scratch, {
      iterations: 1,
      scripts: {
        'exp-1': `mkdir -p cache; echo 1 > cache/it\n${idea('use my cache', 'test ! -e cache/it || { echo 1; exit 0; }; echo 100')}`,
      },
    });
    expect(experiments.map(({ metric }) => metric)).toEqual([100]);
  }, 60_000);

  it('gains nothing by a flood that the true figure drowns in', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    const flood = `echo 100; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo 'cost: 1'`;
    await using pulse = await createPulse({ environment: scratch.environment });
    const { experiments } = await research(pulse, scratch, {
      iterations: 1,
      scripts: { 'exp-1': idea('drown it', flood) },
    });
    expect(experiments).toMatchObject([
      { status: 'crash', metric: null, reason: expect.stringContaining('more than 4 MiB') },
    ]);
  }, 60_000);
});
