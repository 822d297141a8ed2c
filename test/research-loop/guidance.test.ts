/** What an experiment's brief says when it matters, and what a person is told at once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createScratch } from '../fakes/scratch.ts';
import { brief, idea, prepareLab, research, tell } from './lab.ts';

const STUCK = 'Nothing has helped for a while.';
const VARIANTS = 'try variants of changes that were kept, nothing else';

describe('the brief of an experiment', () => {
  it('brings the stuck protocol after the sixth discard in a row, and only variants when fewer than three are left', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    const worse = (number: number): [string, string] => [
      `exp-${number}`,
      idea(`worse by ${number}`, 100 + number),
    ];
    const crash = idea('lack of memory', 'echo "out of memory" >&2; exit 1');
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 11,
      content: { strategy: ['make it cheaper by halves', 'worse by design'] },
      scripts: {
        ...Object.fromEntries([1, 2, 3, 5, 6, 7, 8].map(worse)),
        // A crash neither counts nor resets.
        'exp-4': crash,
        'exp-9': `pulse tool alert '{"text":"The cost is made up."}' > /dev/null; ${idea('half of it', 50)}`,
        'exp-10': idea('a little less', 49),
        'exp-11': idea('no change', 49),
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ status }) => status[0]).join('')).toBe('dddcddddkkd');
    const text = (number: number): string => brief(scratch, `exp-${number}`, number + 1);
    const stuckIn = [...experiments.keys()].map((index) => index + 1).filter((n) => text(n).includes(STUCK));
    // Discards 1 2 3 5 6 7: the sixth is experiment 7.
    expect(stuckIn).toEqual([8, 9]);
    expect(text(8)).toContain('- Re-read ALL in-scope files from scratch');
    expect(text(8)).toContain("- Try the next untried approach from the plan's Strategy section");
    expect(text(9)).toContain('- Try combining 2-3 previously successful changes');
    const variantsIn = [...experiments.keys()].map((i) => i + 1).filter((n) => text(n).includes(VARIANTS));
    expect(variantsIn).toEqual([9, 10, 11]);
    expect(text(8)).toContain('1. Fix crashes/failures from previous iteration first');

    expect(text(1)).toContain('- [ ] worse by design');
    expect(text(3)).toMatch(/- \[x\] worse by design \(tried in 1, 2\)/);
    expect(text(3)).toContain('2\t-\t102\t+2\tdiscard\tworse by 2\t');
    expect(text(11)).toContain('The best so far is 49, the baseline was 100.');
    expect(text(11)).toContain('experiment: a little less');

    const surprised = [];
    for await (const event of pulse.follow(session.id)) {
      if (event.type === 'experiment.surprised') surprised.push(event.data);
    }
    expect(surprised).toEqual([
      { number: 9, text: 'The cost is made up.' },
      { number: 9, reason: expect.stringContaining('Better by +50') },
    ]);
  }, 120_000);
});

describe('an idea that was discarded', () => {
  it('is not measured again, whether or not the agent asked first', async () => {
    using scratch = createScratch();
    // What is read is noted: a measurement that is refused leaves nothing there.
    const readings = join(scratch.path, 'readings');
    prepareLab(scratch);
    const cost = (what: number) => `echo "echo ${what} >> '${readings}'; echo ${what}" > src/cost`;
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 6,
      scripts: {
        'exp-1': `${cost(110)}\necho 'Unroll the loop.'`,
        // In other words of the same kind, with a result that would be kept.
        'exp-2': `${cost(91)}\necho 'unroll the LOOP'`,
        // Refused by the tool, and made all the same.
        'exp-3': `${tell('Unroll the loop')}\n${cost(92)}\necho 'Unroll the loop!'`,
        // Those who say nothing cannot be told apart.
        'exp-4': cost(111),
        'exp-5': cost(93),
        'exp-6': `${cost(80)}\necho 'Unroll two loops.'`,
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    const tried = 'The idea was tried before and did not work out.';
    expect(experiments.map(({ status, metric, reason }) => [status, metric, reason === tried])).toEqual([
      ['discard', 110, false],
      ['discard', null, true],
      ['discard', null, true],
      ['discard', 111, false],
      ['keep', 93, false],
      ['keep', 80, false],
    ]);
    expect(readFileSync(readings, 'utf8').match(/^9[12]$/gm)).toBeNull();
    const refs = scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse/discarded');
    expect(refs.split('\n')).toEqual([1, 2, 3, 4].map((n) => `refs/pulse/discarded/${session.id}/${n}`));
  }, 60_000);
});
