import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportIssues } from '../../src/loops/beads/exchange/export-issues.ts';
import { importIssues } from '../../src/loops/beads/exchange/import-issues.ts';
import { decodeFile, readIssueFile } from '../../src/loops/beads/exchange/issue-file.ts';
import { patchJson } from '../../src/loops/beads/exchange/json-text.ts';
import { claimNextBead } from '../../src/loops/beads/graph/claim.ts';
import { findBead, getBead, listBeads, lockProject } from '../../src/loops/beads/graph/rows.ts';
import { isPostgres, type Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { beadsOf, PROJECT } from './beads.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const FRONT = `---
# what the planner found
files: [src/a.ts, "src/**/*.test.ts"]
verify:
  - npm test
  - command: npm run lint
    expect: /0 errors/
verification_evidence: history/x/verification/br-1.md
testing_mode: standard
decision_refs: [D1]
learning_refs: []
owner_team: core
---
The text.
`;
/** As `bd` writes it (Go escapes), as `br` does, and lines that are no issues. */
const FILE = [
  '{"id":"bd-e","content_hash":"ab","title":"An epic","description":"a \\u0026 b","status":"open","priority":1,"issue_type":"epic","created_at":"2025-11-06T23:24:07.694421836-05:00","updated_at":"2025-11-06T23:24:07.694421836-05:00","source_repo":"."}',
  `{"id":"br-1","title":"First","description":${JSON.stringify(FRONT)},"status":"open","priority":2,"issue_type":"task","estimated_minutes":12345678901234567890,"created_at":"2026-01-17T04:57:21.581167427Z","updated_at":"2026-01-17T04:57:29.394413034Z","compaction_level":0,"original_size":1.0,"labels":["ui"],"dependencies":[{"issue_id":"br-1","depends_on_id":"bd-e","type":"parent-child","created_at":"2026-01-17T04:57:21Z","created_by":"x"},{"issue_id":"br-1","depends_on_id":"gone-9","type":"discovered-from","created_at":"2026-01-17T04:57:21Z","created_by":"x"}]}`,
  '{"id":"br-2","title":"Second","status":"tombstone","priority":0,"issue_type":"bug","created_at":"2026-01-17T04:57:21Z","updated_at":"2026-01-17T04:57:21Z","deleted_at":"2026-01-18T00:00:00Z","dependencies":[{"issue_id":"br-2","depends_on_id":"br-1","type":"blocks","created_at":"2026-01-17T04:57:21Z","created_by":"x"}]}',
  '',
  '{"_type":"memory","id":"m","title":"no issue"}',
  '  {"id": "br-3", "title": "Spaced", "unknown": {"deep": [1.50, "\\u00e9"]}}',
  '{"version":3}',
].join('\n');

const importing = (store: Store, text: string) =>
  store.tx('import', async (db) =>
    importIssues(db, await lockProject(db, PROJECT), readIssueFile(text, NOW)),
  );
const exporting = (store: Store) => store.read((db) => exportIssues(db, PROJECT));

describe('a change of JSON text', () => {
  it('changes what it names, and nothing else', () => {
    const text = '{ "a" : 1.0, "b":[1,{"a":2}] ,"c":"\\"}," }';
    expect(patchJson(text, { a: 2, c: null })).toBe('{ "a" : 2, "b":[1,{"a":2}] ,"c":null }');
    expect(patchJson(text, { d: 'x' })).toBe('{ "a" : 1.0, "b":[1,{"a":2}] ,"c":"\\"},","d":"x" }');
    expect(patchJson('{ }', { a: 1, b: 2 })).toBe('{ "a":1,"b":2}');
  });

  it('is what parsing, changing and writing would give', () => {
    // No key is one escaped character alone: after '{"\\\\":1}', Node 24's JSON.parse reads '{"\\"":1}' as a backslash.
    const key = fc.constantFrom('id', 'title', 'x', '', '"a', '\\a', 'é\u2028');
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.jsonValue()),
        fc.dictionary(key, fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        (object, changes, space) => {
          const patched = patchJson(JSON.stringify(object, null, space), changes);
          expect(JSON.parse(patched)).toEqual(JSON.parse(JSON.stringify({ ...object, ...changes })));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a broken file', () => {
  const read = (text: string) => () => readIssueFile(text, NOW);
  const issue = (more: object) => JSON.stringify({ id: 'a', title: 'A', ...more });

  it('is refused, with the number of each line', () => {
    expect(read(`${issue({})}\n\n{"id": \n<<<<<<< HEAD\n`)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: expect.stringMatching(/^The issue file is broken: line 3: /),
        data: {
          violations: [expect.stringMatching(/^line 3: it is no JSON/), expect.stringMatching(/^line 4: /)],
        },
      }),
    );
    const faults: [string, RegExp][] = [
      [issue({ priority: 7 }), /line 1: The priority must be 0 to 4/],
      [issue({ priority: '1' }), /line 1: The priority/],
      [issue({ title: 3 }), /line 1: title must be text/],
      [issue({ title: ' ' }), /line 1: title is missing/],
      [issue({ id: '../a' }), /line 1: "..\/a" cannot be the id/],
      [issue({ id: '' }), /line 1: id is missing/],
      [issue({ labels: 'x' }), /line 1: labels must be a list/],
      [issue({ labels: [1] }), /line 1: labels must be a list of texts/],
      [issue({ dependencies: [{}] }), /line 1: dependencies/],
      [issue({ created_at: 'yesterday' }), /line 1: created_at is no time/],
      [`${issue({})}\n${issue({})}`, /line 2: a is in line 1 already/],
      [issue({ description: '---\nfiles: [../x]\n---\n' }), /line 1: "..\/x" lies outside/],
      [issue({ description: '---\nfiles: {a: 1}\n---\n' }), /line 1: files must be text/],
      [issue({ description: '---\nfiles: [a\n---\n' }), /line 1: the front matter is no YAML/],
      [issue({ description: '---\ntesting_mode: never\n---\n' }), /line 1: "never" is no testing mode/],
      [
        issue({ description: '---\nverify: [{command: x, expect: "/(/"}]\n---\n' }),
        /line 1: The expectation/,
      ],
    ];
    for (const [text, message] of faults) expect(read(text), String(text)).toThrow(message);
  });

  it('is UTF-8', () => {
    const bytes = Buffer.from('\uFEFF{"é":1}');
    expect(Buffer.from(decodeFile(bytes))).toEqual(bytes);
    expect(() => decodeFile(Buffer.from([0x7b, 0xff, 0x7d]))).toThrow(/no UTF-8/);
  });

  it('may have front matter that is somebody else’s', () => {
    const [line] = readIssueFile(issue({ description: '---\nlayout: page\n---\nText' }), NOW);
    expect(line!.bead).toMatchObject({ body: '---\nlayout: page\n---\nText', fields: {} });
  });
});

onBothStores((open) => {
  describe('an issue file', () => {
    it('becomes beads, and comes back byte for byte', async () => {
      const store = await open();
      expect(await importing(store, FILE)).toEqual({
        created: ['bd-e', 'br-1', 'br-2', 'br-3'],
        updated: [],
        unchanged: 0,
        kept: 3,
      });
      const bead = await store.read((db) => getBead(db, PROJECT, 'br-1'));
      expect(bead).toMatchObject({
        epic: 'bd-e',
        missing: [],
        body: 'The text.\n',
        labels: ['ui'],
        fields: {
          files: ['src/a.ts', 'src/**/*.test.ts'],
          verify: [{ command: 'npm test' }, { command: 'npm run lint', expect: '/0 errors/' }],
        },
      });
      expect(await exporting(store)).toBe(FILE);
      const revisions = async () =>
        (await store.read((db) => listBeads(db, PROJECT))).map(({ revision }) => revision);
      const before = await revisions();
      expect(await importing(store, FILE)).toMatchObject({ created: [], updated: [], unchanged: 4 });
      expect(await exporting(store)).toBe(FILE);
      expect(await revisions()).toEqual(before);
    });

    it('changes in four members when a bead is closed', async () => {
      const store = await open();
      await importing(store, FILE);
      const closed = await beadsOf(store).close('br-1', 'Completed: done');
      const [was, is] = [FILE, await exporting(store)].map((text) => text.split('\n'));
      expect(is!.filter((line, index) => line !== was![index])).toHaveLength(1);
      expect(is![1]).toBe(
        was![1]!
          .replace('"status":"open"', '"status":"closed"')
          .replace('2026-01-17T04:57:29.394413034Z', closed.updated_at)
          .replace(/\}$/, `,"closed_at":"${closed.closed_at}","close_reason":"Completed: done"}`),
      );
      expect(await importing(store, is!.join('\n'))).toMatchObject({ updated: [], unchanged: 4 });
      expect(await exporting(store)).toBe(is!.join('\n'));
    });

    it('keeps comments and names of others in the front matter that it changes', async () => {
      const store = await open();
      await importing(store, FILE);
      await beadsOf(store).update('br-1', { fields: { files: ['src/a.ts', 'src/b.ts'] } });
      const line = JSON.parse((await exporting(store)).split('\n')[1]!);
      expect(line.description).toContain('# what the planner found');
      expect(line.description).toContain('owner_team: core');
      expect(line.description).toMatch(/src\/b\.ts[\s\S]*---\nThe text\.\n$/);
      const [read] = readIssueFile(JSON.stringify(line), NOW);
      expect(read!.bead!.fields).toMatchObject({ files: ['src/a.ts', 'src/b.ts'], decision_refs: ['D1'] });
    });

    it('has beads of Pulse as lines that another Pulse reads as the same', async () => {
      const store = await open();
      const beads = beadsOf(store);
      await beads.create({ id: 'e', type: 'epic', title: 'Epic', body: 'About it' });
      await beads.create({
        id: 'a',
        epic: 'e',
        body: '---\nnot: ours\n---\n',
        labels: ['x'],
        fields: {
          files: ['a: b', '[c].ts', '#d'],
          verify: [{ command: 'echo "x: y" # z', expect: 'exit 3' }, { command: 'multi\nline' }],
          testing_mode: 'tdd-required',
          tdd_steps: { red: 'r', green: 'g', expect: '/no/' },
          decision_refs: ['D1'],
        },
      });
      await beads.create({ id: 'b', dependencies: ['a'], fields: {} });
      await beads.close('e', 'Over');
      const text = await exporting(store);
      const there = readIssueFile(text, NOW).map(({ bead }) => bead!);
      for (const bead of there) {
        const {
          revision: _,
          epic: __,
          missing: ___,
          ...own
        } = await store.read((db) => getBead(db, PROJECT, bead.id));
        expect(bead).toEqual(own);
      }
      expect(await importing(store, text)).toMatchObject({ created: [], updated: [], unchanged: 3 });
      expect(await exporting(store)).toBe(text);
    });

    it('takes a command without quotation marks as its text', async () => {
      const store = await open();
      const description =
        '---\nfiles: [src/a.ts]\nverify:\n- command: true\n  expect: 3\n- false\n- 7\n---\nText';
      await importing(store, JSON.stringify({ id: 'a', title: 'A', description }));
      const { fields } = await store.read((db) => getBead(db, PROJECT, 'a'));
      const verify = [{ command: 'true', expect: '3' }, { command: 'false' }, { command: '7' }];
      expect(fields).toMatchObject({ verify });
      await beadsOf(store).close('a', 'Over');
      expect(JSON.parse(await exporting(store)).description).toBe(description);
    });

    it('is imported whole or not at all', async () => {
      const store = await open();
      await beadsOf(store).create({ id: 'here' });
      const line = (id: string, needs: string[], type = 'blocks') =>
        JSON.stringify({
          id,
          title: id,
          dependencies: needs.map((depends_on_id) => ({ depends_on_id, type })),
        });
      const faults: [string[], object][] = [
        [
          [line('ok', []), line('x', ['y']), line('y', ['z']), line('z', ['x'])],
          { code: 'invalid_input', message: 'Line 2: A cycle: x waits for y waits for z waits for x.' },
        ],
        [[line('x', ['x'])], { code: 'invalid_input' }],
        [[line('x', ['y'], 'parent-child'), line('y', ['x'], 'parent-child')], { code: 'invalid_input' }],
        [
          [line('ok', []), line('x', ['nobody'])],
          { code: 'not_found', message: expect.stringContaining('Line 2: ') },
        ],
        [[line('x', ['nobody'], 'parent-child')], { code: 'not_found' }],
      ];
      for (const [lines, error] of faults)
        await expect(importing(store, lines.join('\n'))).rejects.toMatchObject(error);
      expect(await store.read((db) => listBeads(db, PROJECT))).toHaveLength(1);
      await importing(store, line('x', ['here']));
      expect((await store.read((db) => findBead(db, PROJECT, 'x')))!.dependencies).toEqual([
        { id: 'here', type: 'blocks' },
      ]);
    });

    it('that was changed elsewhere replaces beads, unless they were changed here later', async () => {
      const store = await open();
      const file = (title: string, updated: string) =>
        `${JSON.stringify({ id: 'a', title, updated_at: updated })}\n{"id":"b","title":"B"}\n`;
      await importing(store, file('One', '2020-01-01T00:00:00Z'));
      await importing(store, file('Two', '2020-01-01T00:00:00Z'));
      expect((await store.read((db) => getBead(db, PROJECT, 'a'))).title).toBe('Two');
      await beadsOf(store).update('a', { title: 'Ours' });
      expect(await importing(store, file('Old', '2020-01-01T00:00:00Z'))).toMatchObject({ updated: [] });
      expect((await store.read((db) => getBead(db, PROJECT, 'a'))).title).toBe('Ours');
      expect(await importing(store, file('New', '2999-01-01T00:00:00Z'))).toMatchObject({ updated: ['a'] });
      expect(await exporting(store)).toBe(file('New', '2999-01-01T00:00:00Z'));
    });

    it('keeps its place among others', async () => {
      const store = await open();
      const line = (id: string) => `{"id":"${id}","title":"${id}"}\n`;
      await importing(store, `${line('a1')}${line('a2')}`);
      await beadsOf(store).create({ id: 'own' });
      await importing(store, `${line('b1')}`);
      await importing(store, `${line('a2')}{"n":1}\n${line('a0')}${line('a1')}`);
      const order = (await exporting(store))
        .split('\n')
        .map((each) => each && (JSON.parse(each).id ?? 'other'));
      expect(order).toEqual(['a2', 'other', 'a0', 'a1', 'own', 'b1', '']);
      const before = await exporting(store);
      await importing(store, `${line('c1')}{"n":1}\n`);
      expect(await exporting(store)).toBe(`${before}${line('c1')}{"n":1}\n`);
    });

    it('shows who has claimed a bead', async () => {
      const store = await open();
      await importing(store, FILE);
      await claimNextBead(store, { projectId: PROJECT, worker: 'fox' });
      expect(JSON.parse((await exporting(store)).split('\n')[1]!)).toMatchObject({
        status: 'in_progress',
        assignee: 'fox',
      });
    });
  });

  it('brings any file back as it was', { timeout: 120_000 }, async () => {
    const store = await open();
    const isSlow = await store.read(async (db) => isPostgres(db));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(lineOf, { maxLength: 8 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        async (lines, end, isEnded) => {
          const project = `round-${round++}`;
          const text = lines.map((line, index) => line(index)).join(end) + (isEnded ? end : '');
          const file = readIssueFile(text, NOW);
          const load = () =>
            store.tx('import', async (db) => importIssues(db, await lockProject(db, project), file));
          const first = await load();
          const back = await store.read((db) => exportIssues(db, project));
          expect(back).toBe(text);
          expect(await load()).toEqual({
            ...first,
            created: [],
            updated: [],
            unchanged: first.created.length,
          });
          expect(await store.read((db) => exportIssues(db, project))).toBe(text);
        },
      ),
      { numRuns: isSlow ? 15 : 60 },
    );
  });
});

const member = fc.record(
  {
    description: fc.oneof(fc.string({ unit: 'binary' }), fc.constant(FRONT)),
    status: fc.constantFrom('open', 'closed', 'hooked', 'in_progress'),
    priority: fc.integer({ min: 0, max: 4 }),
    issue_type: fc.constantFrom('task', 'epic', 'odd type'),
    labels: fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }),
    created_at: fc.constantFrom('2026-01-17T04:57:21.581167427Z', '2025-11-06T23:24:07-05:00'),
    extra: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
/** A line in one of the ways in which programs write JSON; the number makes its id. */
const lineOf: fc.Arbitrary<(index: number) => string> = fc.oneof(
  fc
    .tuple(member, fc.string({ unit: 'binary', minLength: 1 }), fc.integer({ min: -1, max: 7 }), fc.nat(2))
    .map(([more, title, needs, style]) => (index: number) => {
      const dependencies =
        needs >= 0 && needs < index ? [] : [{ depends_on_id: `x${index}`, type: 'related', more: 1.5 }];
      const issue = { id: `id-${index}`, title: `${title}.`, ...more, dependencies };
      const text = JSON.stringify(issue);
      if (style === 0) return text;
      return style === 1
        ? text.replaceAll('&', '\\u0026').replaceAll('/', '\\/')
        : ` ${text.replaceAll(',"', ', "')}\t`;
    }),
  fc
    .jsonValue()
    .filter((value) => typeof value !== 'object')
    .map((value) => () => JSON.stringify(value)),
  fc.constant(() => ''),
  fc.constant(() => '{"_type":"comment","text":"\\u0000"}'),
);
