/** The files beside the user's work: whose the root's log is, what a crash leaves of them, and how they grow. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sessionFileSchema } from '../../src/loops/research/report/session-file.ts';
import { createPulse } from '../../src/pulse.ts';
import { createScratch } from '../fakes/scratch.ts';
import { idea, prepareLab, research, startResearch, tell } from './lab.ts';

const LOG = 'autoresearch-results.tsv';
const SESSIONS = '.context/research-sessions';

const rowsOf = (text: string): [string, string][] =>
  text
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) => line.split('\t'))
    .map(([number, , , , status]) => [number!, status!]);

describe('the log in the root', () => {
  it('is the newest session’s that has one, whatever happens to older ones', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const older = await research(pulse, scratch, { iterations: 1, scripts: { 'exp-1': idea('first', 90) } });
    const waiting = await startResearch(pulse, scratch, { iterations: 1, scripts: {} });
    const newest = await research(pulse, scratch, {
      iterations: 1,
      scripts: { 'exp-1': idea('second', 80) },
    });
    expect(scratch.read(LOG)).toContain('\tsecond\t');
    await pulse.research.finish(older.session.id, { how: 'done', actor: 'test' });
    expect(scratch.read(LOG)).toContain('\tsecond\t');
    // Older by its start, though it ends last.
    await pulse.run(waiting, new AbortController().signal);
    expect(scratch.read(LOG)).toBe(scratch.read(`${SESSIONS}/${newest.session.id}.tsv`));
    expect(rowsOf(scratch.read(`${SESSIONS}/${waiting}.tsv`))).toHaveLength(2);

    // One that has nothing to show yet leaves it alone.
    await startResearch(pulse, scratch, { scripts: {} });
    await pulse.research.finish(newest.session.id, { how: 'done', actor: 'test' });
    expect(scratch.read(LOG)).toBe(scratch.read(`${SESSIONS}/${newest.session.id}.tsv`));
  }, 60_000);
});

describe('what a crash kept from being written', () => {
  it('is written with the next row, the session’s file too', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    const folder = join(scratch.repository, SESSIONS);
    // As if the process had died between the keep and its files: they are what they were before it.
    const lose = `cp "${scratch.path}/before.json" "${folder}"/*.json; sed -i '$d' "${folder}"/*.tsv "${scratch.repository}/${LOG}"`;
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session } = await research(pulse, scratch, {
      iterations: 3,
      scripts: {
        'exp-1': `cp "${folder}"/*.json "${scratch.path}/before.json"\n${idea('cheaper', 90)}`,
        'exp-2': `${idea('dearer', 95)}\n${lose}`,
        'exp-3': `cp "${folder}"/*.json "${scratch.path}/after.json"; cp "${scratch.repository}/${LOG}" "${scratch.path}/after.tsv"\n${idea('much dearer', 99)}`,
      },
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    const fileAt = (name: string) =>
      sessionFileSchema.parse(JSON.parse(readFileSync(join(scratch.path, name), 'utf8')));
    expect(fileAt('before.json')).toMatchObject({ metric: { final: 100 }, iterations: [{}] });
    const after = fileAt('after.json');
    expect(after).toMatchObject({ id: session.id, status: 'researching', metric: { final: 90 } });
    const logged = rowsOf(readFileSync(join(scratch.path, 'after.tsv'), 'utf8'));
    expect(logged).toEqual([
      ['0', 'baseline'],
      ['1', 'keep'],
      ['2', 'discard'],
    ]);
    expect(after.iterations.map(({ iteration, status }) => [String(iteration), status])).toEqual(logged);
  }, 60_000);
});

describe('a log', () => {
  it.each([1, 2])(
    'grows by its last row, with %i at work, and is not written anew for it',
    async (parallel) => {
      using scratch = createScratch();
      prepareLab(scratch);
      const log = join(scratch.repository, LOG);
      // Each waits until the one before it is logged: so each is the newest row when it is decided.
      const wait = (number: number) =>
        `until grep -q '^${number}	' '${log}'; do sleep 0.02; done; ls -i '${log}' >> "${scratch.path}/inodes"`;
      await using pulse = await createPulse({ environment: scratch.environment });
      const { session } = await research(pulse, scratch, {
        iterations: 4,
        parallel,
        scripts: Object.fromEntries(
          [1, 2, 3, 4].map((number) => [
            `exp-${number}`,
            `${tell(`dearer by ${number}`)}\n${wait(number - 1)}\necho 'echo ${100 + number}' > src/cost`,
          ]),
        ),
      });
      expect([session.status, session.blocked_reason]).toEqual(['complete', null]);
      const inodes = readFileSync(join(scratch.path, 'inodes'), 'utf8').trim().split('\n');
      expect([inodes.length, new Set(inodes).size]).toEqual([4, 1]);
      expect(rowsOf(readFileSync(log, 'utf8')).map(([number]) => number)).toEqual(['0', '1', '2', '3', '4']);
    },
    60_000,
  );
});
