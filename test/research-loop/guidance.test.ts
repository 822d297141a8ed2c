/** What an experiment's brief says when it matters, and what a person is told at once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createScratch } from '../fakes/scratch.ts';
import { brief, idea, prepareLab, research, startResearch, tell } from './lab.ts';

const STUCK = 'Nothing has helped for a while.';
const FEW = 'Only few experiments are left: try variants of changes that were kept';

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
    const fewIn = [...experiments.keys()].map((i) => i + 1).filter((n) => text(n).includes(FEW));
    expect(fewIn).toEqual([9, 10, 11]);
    // There are no variants of nothing: as long as nothing was kept, the order stands.
    const variantsIn = fewIn.filter((n) => text(n).includes(`${FEW}, nothing else.`));
    expect(variantsIn).toEqual([10, 11]);
    expect(text(9)).toContain(`${FEW}. None was yet, so choose by this order:\n\n1. Fix crashes/failures`);
    expect(text(10)).not.toContain('1. Fix crashes/failures');
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
      iterations: 8,
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
        // The very same change, in words that nobody has heard.
        'exp-7': `${cost(110)}\necho 'Do something entirely new.'`,
        'exp-8': `${cost(111)}`,
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
      ['discard', null, false],
      ['discard', null, false],
    ]);
    expect(experiments.slice(-2).map(({ reason }) => reason)).toEqual(
      [1, 4].map((number) => `It is the same change as experiment ${number}, which was discarded.`),
    );
    expect(readFileSync(readings, 'utf8').match(/^9[12]$/gm)).toBeNull();
    expect(readFileSync(readings, 'utf8').match(/^11[01]$/gm)).toEqual(['110', '111']);
    const refs = scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse/discarded');
    expect(refs.split('\n')).toEqual(
      [1, 2, 3, 4, 7, 8].map((n) => `refs/pulse/discarded/${session.id}/${n}`),
    );
  }, 60_000);
});

describe('an experiment that goes on', () => {
  it('is told what it was about and that its work is in the tree', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, {
      iterations: 2,
      scripts: {
        'exp-1': `if grep -q 'go ahead' "${scratch.path}/brief-exp-1-$PULSE_ITERATION"; then echo 'echo 40' > src/cost; else ${tell('halve it')}; echo 'echo 50' > src/cost; echo '<signal>BLOCKED: by half?</signal>'; fi`,
        // Asks before it has an idea: what it asks is none.
        'exp-2': `if grep -q 'go ahead' "${scratch.path}/brief-exp-2-$PULSE_ITERATION"; then ${tell('a third')}; echo 'echo 30' > src/cost; else echo 'I am at a loss.'; echo '<signal>BLOCKED: what now?</signal>'; fi`,
      },
    });
    for (let stop = 0; stop < 2; stop++) {
      await pulse.run(id, new AbortController().signal);
      await pulse.resume(id, { actor: 'test', answer: 'go ahead' });
    }
    await pulse.run(id, new AbortController().signal);
    const { session, experiments } = await pulse.research.rows(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(experiments.map(({ description, metric }) => [description, metric])).toEqual([
      ['halve it', 40],
      ['a third', 30],
    ]);
    const again = brief(scratch, 'exp-1', 3);
    expect(again).toContain('# Go on with this experiment\n\nThe change "halve it" was begun');
    expect(again).not.toContain('# Choose the next change');
    expect(again).not.toContain('experiment_describe');
    expect(brief(scratch, 'exp-2', 5)).toContain('# Choose the next change');
    const tasks = await pulse.commander.listTasks({ group_id: id });
    expect(tasks.map((task) => task.description)).toEqual([
      'Iteration #1: halve it',
      'Iteration #2: a third',
    ]);
  }, 60_000);
});
