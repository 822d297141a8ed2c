import { describe, expect, it } from 'vitest';
import { importTasks } from '../../src/loops/beads/exchange/import-tasks.ts';
import { readImport } from '../../src/loops/beads/exchange/read-import.ts';
import { listBeads, lockProject } from '../../src/loops/beads/graph/rows.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { beadsOf, PROJECT } from './beads.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const read = (file: string, content: unknown) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const found = readImport(text, { file, now: NOW });
  return 'beads' in found ? found.beads : [];
};
const summary = (file: string, content: unknown) =>
  read(file, content).map(({ id, title, status, priority, dependencies }) => ({
    id,
    title,
    status,
    priority,
    needs: dependencies.map((one) => `${one.type} ${one.id}`),
  }));

const PRD = {
  project: 'Shop',
  branchName: 'ralph/shop-cart',
  description: 'A cart',
  userStories: [
    {
      id: 'US-002',
      title: 'Pay',
      description: 'As a buyer',
      acceptanceCriteria: ['It pays', 'Tests pass'],
      priority: 2,
      passes: false,
      notes: 'soon',
      dependencies: ['US-001'],
    },
    { id: 'US-001', title: 'Add', description: '', acceptanceCriteria: [], priority: 1, passes: true },
  ],
};
const TASKS = {
  tasks: [
    {
      id: 1,
      title: 'Set up',
      description: 'd',
      status: 'done',
      dependencies: [],
      priority: 'high',
      details: 'x',
      testStrategy: 'y',
    },
    {
      id: 2,
      title: 'Core',
      status: 'in-progress',
      dependencies: [1],
      priority: 'low',
      subtasks: [
        { id: 1, title: 'One', status: 'done', dependencies: [] },
        { id: 2, title: 'Two', status: 'pending', dependencies: [1, '1'] },
      ],
    },
    { id: 3, title: 'Late', status: 'deferred', dependencies: [2] },
    { id: 4, title: 'Never', status: 'cancelled', dependencies: [] },
  ],
};
const ISSUES = [
  {
    number: 12,
    title: 'Broken',
    body: 'It breaks',
    state: 'OPEN',
    url: 'https://x/12',
    labels: [{ name: 'bug' }, { name: 'P1' }],
    milestone: { title: 'v 1.0' },
  },
  { number: 7, title: 'Old', body: '', state: 'CLOSED', labels: ['docs'], milestone: null },
];
const MARKDOWN = `# The plan

Words.

## Server
- [ ] Route
      more about it
  - [x] Parse
  * [ ] Answer
- plain
- [ ] Route

\`\`\`
- [ ] in code
\`\`\`

## Client
1. [X] Button
`;

describe('a list of tasks', () => {
  it('can be a prd.json: stories in the order of their priority, within an epic', () => {
    expect(summary('prd.json', PRD)).toEqual([
      { id: 'ralph-shop-cart', title: 'Shop', status: 'open', priority: 2, needs: [] },
      { id: 'US-001', title: 'Add', status: 'closed', priority: 2, needs: ['parent-child ralph-shop-cart'] },
      {
        id: 'US-002',
        title: 'Pay',
        status: 'open',
        priority: 2,
        needs: ['blocks US-001', 'parent-child ralph-shop-cart'],
      },
    ]);
    const pay = read('prd.json', PRD)[2]!;
    expect(pay.body).toBe(
      'As a buyer\n\n## Acceptance criteria\n\n- It pays\n- Tests pass\n\n## Notes\n\nsoon',
    );
    expect(pay.fields).toMatchObject({
      testing_mode: 'standard',
      verification_evidence: 'history/shop/verification/US-002.md',
    });
    expect(pay.fields.files).toBeUndefined();
  });

  it('can be a tasks.json: a task waits for its subtasks', () => {
    const expected = [
      ['master', 'open', []],
      ['master-1', 'closed', ['parent-child master']],
      [
        'master-2',
        'open',
        ['blocks master-1', 'blocks master-2.1', 'blocks master-2.2', 'parent-child master'],
      ],
      ['master-2.1', 'closed', ['parent-child master']],
      ['master-2.2', 'open', ['blocks master-2.1', 'blocks master-1', 'parent-child master']],
      ['master-3', 'blocked', ['blocks master-2', 'parent-child master']],
      ['master-4', 'closed', ['parent-child master']],
    ];
    expect(summary('tasks.json', TASKS).map(({ id, status, needs }) => [id, status, needs])).toEqual(
      expected,
    );
    expect(
      summary('tasks.json', { master: { ...TASKS, metadata: {} } }).map(({ id, status, needs }) => [
        id,
        status,
        needs,
      ]),
    ).toEqual(expected);
    expect(read('tasks.json', TASKS)[1]).toMatchObject({
      priority: 1,
      body: 'd\n\n## Details\n\nx\n\n## How it is tested\n\ny',
    });
  });

  it('can be what gh prints: oldest first, a milestone is an epic', () => {
    expect(
      read('issues.json', ISSUES).map(({ id, type, status, priority, labels }) => [
        id,
        type,
        status,
        priority,
        labels,
      ]),
    ).toEqual([
      ['gh-milestone-v-1-0', 'epic', 'open', 2, []],
      ['gh-7', 'docs', 'closed', 2, ['docs']],
      ['gh-12', 'bug', 'open', 1, ['bug', 'P1']],
    ]);
  });

  it('has an epic for each milestone, in whatever script it is', () => {
    const issue = (number: number, title: string) => ({
      number,
      title: 'x',
      state: 'OPEN',
      milestone: { title },
    });
    const beads = read('issues.json', JSON.stringify([issue(1, '第一版'), issue(2, '第二版')]));
    expect(new Set(beads.map(({ id }) => id)).size).toBe(4);
  });

  it('can be Markdown: an item waits for those below it', () => {
    const beads = read('plan.md', MARKDOWN);
    const [epic, route, parse, answer, again, button] = beads.map(({ id }) => id);
    expect(beads.map(({ title, status, labels }) => [title, status, labels])).toEqual([
      ['The plan', 'open', []],
      ['Route', 'open', ['server']],
      ['Parse', 'closed', ['server']],
      ['Answer', 'open', ['server']],
      ['Route', 'open', ['server']],
      ['Button', 'closed', ['client']],
    ]);
    expect(beads[1]).toMatchObject({
      body: 'more about it',
      dependencies: [
        { id: parse, type: 'blocks' },
        { id: answer, type: 'blocks' },
        { id: epic, type: 'parent-child' },
      ],
    });
    expect(new Set([route, again, button]).size).toBe(3);
    expect(read('plan.md', MARKDOWN)).toEqual(beads);
  });

  it('is known by its content where its name does not say', () => {
    expect(read('x.txt', MARKDOWN)).toHaveLength(6);
    expect(read('x', PRD)).toHaveLength(3);
    const issue = '{"id":"a","title":"A"}';
    for (const text of [issue, `${issue}\n{"n":1}\n`, `${issue}\n{broken`])
      if (text.includes('broken')) expect(() => read('x', text)).toThrow(/line 2/);
      else expect(readImport(text, { file: 'x', now: NOW })).toHaveProperty('lines');
  });

  it('is refused where it makes no sense', () => {
    const faults: [string, unknown, RegExp][] = [
      ['a.md', '# Nothing\n\n- no box\n', /no check list/],
      ['a.json', { x: 1 }, /no form that can be imported/],
      ['a.json', '[]', /no form/],
      ['prd.json', { userStories: {} }, /userStories must be a list/],
      ['prd.json', { userStories: [{ id: 'a', title: '' }] }, /has no title/],
      ['prd.json', { userStories: [{ id: '../a', title: 'x' }] }, /cannot be an id/],
      [
        'prd.json',
        {
          userStories: [
            { id: 'a', title: 'x' },
            { id: 'a', title: 'y' },
          ],
        },
        /there twice/,
      ],
      ['tasks.json', { tasks: [{ title: 'x' }] }, /has no id/],
      ['i.json', [{ number: 'x', title: 'y' }], /no number/],
    ];
    for (const [file, content, message] of faults) expect(() => read(file, content), file).toThrow(message);
    expect(() => readImport('{}', { file: 'a', format: 'ralph', now: NOW })).toThrow(/no list of ralph/);
  });
});

onBothStores((open) => {
  it('is imported once, and nobody is bounced or offered it', async () => {
    const store: Store = await open();
    const load = (content: unknown) =>
      store.tx('import', async (db) =>
        importTasks(db, await lockProject(db, PROJECT), read('prd.json', content)),
      );
    expect(await load(PRD)).toEqual({
      created: ['ralph-shop-cart', 'US-001', 'US-002'],
      updated: [],
      unchanged: 0,
      kept: 0,
    });
    expect(await load(PRD)).toMatchObject({ created: [], unchanged: 3 });
    const beads = await store.read((db) => listBeads(db, PROJECT));
    expect(beads.map(({ id, status }) => [id, status])).toEqual([
      ['ralph-shop-cart', 'open'],
      ['US-001', 'closed'],
      ['US-002', 'open'],
    ]);
    const { bead, why } = await beadsOf(store).next({ isExplained: true });
    expect(bead).toBeNull();
    expect(why.skipped).toEqual([{ id: 'US-002', reasons: ['it lacks files, verify'] }]);
    const [first, second] = PRD.userStories;
    const circle = {
      ...PRD,
      userStories: [
        { ...first, id: 'x', dependencies: ['y'] },
        { ...second, id: 'y', dependencies: ['x'] },
      ],
    };
    await expect(load(circle)).rejects.toMatchObject({ code: 'invalid_input', data: { cycle: ['y', 'x'] } });
    await expect(
      load({ ...PRD, userStories: [{ ...first, id: 'z', dependencies: ['nobody'] }] }),
    ).rejects.toMatchObject({ code: 'not_found' });
    expect(await store.read((db) => listBeads(db, PROJECT))).toHaveLength(3);
  });
});
