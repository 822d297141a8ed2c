/** A draft of beads: every fault at once, and a file that comes back as it was. */
import { describe, expect, it } from 'vitest';
import { readImport } from '../../src/loops/beads/exchange/read-import.ts';
import { draftToBeads, parseDraft, writeDraft } from '../../src/loops/beads/plan/draft.ts';
import { draftCommands } from '../../src/loops/beads/plan/draft-commands.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const A = { id: 'a', title: 'A', files: ['src/a.ts'], verify: ['npm test'] };
const DRAFT = {
  epic: { id: 'dates', title: 'Dates in words', body: 'All of it.' },
  beads: [
    A,
    {
      ...{
        id: 'b',
        title: 'B',
        body: 'Text: "quoted"\n# no comment',
        files: ['src/b/**'],
        dependencies: ['a'],
      },
      verify: [{ command: 'make', expect: '/ok/' }],
      ...{ testing_mode: 'tdd-required', tdd_steps: { red: 'make red', green: 'make green' }, priority: 0 },
    },
  ],
};

function faultsOf(value: unknown, known: readonly string[] = []): string[] {
  try {
    parseDraft(value, new Set(known));
    return [];
  } catch (error) {
    return (error as { hint: string }).hint.split('\n');
  }
}

describe('a draft of beads', () => {
  it('becomes beads that lack nothing, the epic first', () => {
    const beads = draftToBeads(parseDraft(DRAFT), NOW);
    expect(beads.map(({ id, type }) => [id, type])).toEqual([
      ['dates', 'epic'],
      ['a', 'task'],
      ['b', 'task'],
    ]);
    expect(beads[2]).toMatchObject({
      priority: 0,
      dependencies: [
        { id: 'a', type: 'blocks' },
        { id: 'dates', type: 'parent-child' },
      ],
      fields: {
        verification_evidence: 'history/dates-in-words/verification/b.md',
        testing_mode: 'tdd-required',
      },
    });
  });

  it('is a file that an import reads back as it was', () => {
    const text = writeDraft(parseDraft(DRAFT));
    expect(text).toMatch(/^# /);
    for (const how of [{ file: 'x.yaml' }, { file: 'x', format: 'draft' as const }])
      expect(readImport(text, { ...how, now: NOW })).toEqual({ beads: draftToBeads(parseDraft(DRAFT), NOW) });
    expect(readImport(JSON.stringify(DRAFT), { file: 'x.json', now: NOW })).toHaveProperty('beads.length', 3);
    expect(() => readImport('a: [', { file: 'x.yaml', now: NOW })).toThrow('no YAML');
  });

  it('takes a command without quotation marks as its text', () => {
    const text =
      'epic: {id: e, title: E}\nbeads:\n- {id: a, title: A, files: [x], verify: [{command: true}, false]}\n';
    expect(readImport(text, { file: 'x.yaml', now: NOW })).toMatchObject({
      beads: [{ id: 'e' }, { fields: { verify: [{ command: 'true' }, { command: 'false' }] } }],
    });
  });

  it('names every command that it would run', () => {
    expect(draftCommands(parseDraft(DRAFT))).toEqual([
      { bead: 'a', command: 'npm test' },
      { bead: 'b', command: 'make red' },
      { bead: 'b', command: 'make green' },
      { bead: 'b', command: 'make' },
    ]);
  });

  it('tells every fault at once', () => {
    expect(faultsOf({ epic: { id: 'e' }, beads: [], more: 1 })).toEqual([
      expect.stringMatching(/^epic\.title: /),
      'beads: an epic needs a bead',
      expect.stringMatching(/more/),
    ]);
    const beads = [
      { ...A, id: 'e' },
      { ...A, id: 'taken', files: [] },
      { ...A, id: 'x y', files: ['../out'] },
      { ...A, id: 'tdd', testing_mode: 'tdd-required' },
      { ...A, id: 'c', dependencies: ['d', 'nowhere', 'old'] },
      { ...A, id: 'd', dependencies: ['c'] },
      { ...A, id: 're', verify: [{ command: 'x', expect: '/(/' }] },
    ];
    const found = faultsOf({ epic: { id: 'e', title: 'E' }, beads }, ['taken', 'old']);
    for (const part of [
      'the id "e" is given twice',
      'there is a bead "taken" in the project already',
      '"taken" lacks files',
      '"x y" cannot be the id',
      '../out',
      '"tdd" lacks tdd_steps',
      '"c" waits for "nowhere", which does not exist',
      'a circle: c waits for d waits for c',
      '"re": ',
    ])
      expect(found.join('\n')).toContain(part);
    expect(found.join('\n')).not.toContain('"old"');
  });
});
