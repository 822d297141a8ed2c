/** The account of the briefs of all loops: each of their headings is booked where it belongs. */
import { describe, expect, it } from 'vitest';
import { fenced } from '../../src/context/fence.ts';
import { loadTokenCounter } from '../../src/context/tokens.ts';
import { beadBrief } from '../../src/loops/beads/files/bead-brief.ts';
import { planBrief as beadPlanBrief } from '../../src/loops/beads/plan/brief.ts';
import { buildResearchBrief } from '../../src/loops/research/brief-text.ts';
import { accountBrief, isBooked, partsOf } from '../../src/loops/shared/brief-account.ts';
import { countedBrief } from '../../src/loops/shared/brief-tools.ts';
import { buildKickoff, planBrief, preflightBrief } from '../../src/loops/workflow/kickoff-text.ts';

const count = await loadTokenCounter();
const file = (path: string) => ({ path, content: 'Words.\n', note: null });

const bead = {
  bead: {
    ...{ id: 'app-1', title: 'Add login', type: 'task', body: 'Keep D1.', files: ['src/login.ts'] },
    ...{ verify: [{ command: 'npm test' }], testingMode: 'tdd-required', decisionRefs: ['D1'] },
    tddSteps: { red: 'npm test', green: 'npm test' },
  },
  inputs: {
    ...{ mode: 'worker', nickname: 'worker-1', mailName: 'BlueFox', coordinator: 'Coordinator' },
    ...{ thread: 'app-9', topic: 'epic', hint: 'app-1', feature: 'auth' },
  },
  files: {
    ...{ agents: file('AGENTS.md'), state: file('STATE.md'), context: file('CONTEXT.md') },
    ...{ handoff: file('handoff.json'), decisions: [{ id: 'D1', text: 'JWT' }], unknownDecisions: [] },
    ...{ learnings: [file('history/learnings/a.md')], missingLearnings: [] },
  },
  ...{ branch: 'b', evidencePath: 'e.md', answer: 'Yes.', notes: ['A note.'] },
  mail: [
    {
      ...{ id: 'msg_1', sender_name: 'Fox', subject: 'Hello', body_md: 'Hi.', created_at: '2026-02-03' },
      ack_required: false,
    },
  ],
  again: { reasons: ['It failed.'] },
  debugging: { failures: [] },
  mergeConflict: { onto: 'abc', paths: [], output: 'both' },
} satisfies Parameters<typeof beadBrief>[0];

const research = {
  ...{ goal: 'Faster.', number: 3, iterations: 20, results: 'a\tb', log: 'abc one', hasKept: true },
  metric: {
    ...{ name: 'ms', direction: 'lower', command: 'bench', best: '1', baseline: '2', target: '0.5' },
  },
  scope: { inScope: ['src/**'], readOnly: ['test/**'], outOfScope: ['docs/**'] },
  files: [{ path: 'src/a.ts', text: '# Goal\n' }],
  moreFiles: ['src/b.ts'],
  strategy: [{ text: 'Cache.', iterations: [1] }],
  ...{ priorities: ['Speed'], antiPatterns: ['None'], onlyVariants: false, stuck: ['Look'], advice: 'Less.' },
  guarded: [{ number: 1, description: 'One', output: 'Broken' }],
  ...{ crash: null, begun: null, interruption: 'It broke off.', answer: 'Yes.', notes: ['A note.'] },
};

const kickoff = {
  ...{ title: 'Login', approach: 'Small steps.', branch: 'b', run: 2, checks: ['npm test'], answer: 'Yes.' },
  pulse: { id: 'one', title: 'One', description: 'Do it.', expectedChanges: ['a'], comments: 'Again.' },
  others: [{ id: 'two', title: 'Two', status: 'open', description: null }],
  ...{ notes: ['A note.'], before: 'It failed.' },
};

const planned = { goal: 'Login', answer: 'Yes.', faults: 'No id.' };
const BRIEFS: Record<string, string> = {
  pulse: buildKickoff(kickoff),
  bead: beadBrief(bead),
  'bead again': beadBrief({ ...bead, hasCompacted: true }),
  'bead of a single worker': beadBrief({ ...bead, inputs: { ...bead.inputs, mode: 'standalone' } }),
  experiment: buildResearchBrief(research),
  'mended experiment': buildResearchBrief({ ...research, crash: { description: 'One', output: 'Oh' } }),
  'continued experiment': buildResearchBrief({ ...research, begun: 'One' }),
  plan: planBrief('Login', 'Yes.'),
  'plan of beads': beadPlanBrief({ ...planned, known: [{ id: 'a', title: 'A', status: 'open' }] }),
  preflight: preflightBrief(['npm test']),
};

describe('the account of a brief', () => {
  it.each(Object.entries(BRIEFS))('has a place for every heading of a %s', (_, text) => {
    const headings = partsOf(text).map(({ heading }) => heading);
    // What is quoted of the files in scope has their names as headings.
    expect(headings.filter((heading) => !isBooked(heading) && heading !== 'src/a.ts')).toEqual([]);
    expect(
      partsOf(text)
        .map((part) => part.text)
        .join(''),
    ).toBe(text);
  });

  it.each(Object.entries(BRIEFS))('adds up to the whole %s', async (_, text) => {
    const { tokens, sections } = await countedBrief({ text, strategy: 'mcp' });
    expect(sections!.reduce((sum, each) => sum + each.tokens, 0)).toBe(tokens);
    expect(tokens).toBeGreaterThan(count(text));
  });

  it('books rules, outcome and progress apart from the goal', () => {
    const of = (text: string) =>
      Object.fromEntries(accountBrief(text, count).map(({ name, tokens }) => [name, tokens]));
    for (const name of ['pulse', 'experiment'])
      for (const tokens of Object.values(of(BRIEFS[name]!))) expect(tokens).toBeGreaterThan(0);
    const rules = of(buildKickoff({ ...kickoff, checks: ['npm test -- --run a very long list'] }));
    expect(rules.rules).toBeGreaterThan(of(BRIEFS.pulse!).rules!);
    expect(rules.goal).toBe(of(BRIEFS.pulse!).goal);
    const before = of(buildKickoff({ ...kickoff, before: 'It failed because of the port.' }));
    expect(before.outcome).toBeGreaterThan(of(BRIEFS.pulse!).outcome!);
  });

  it('is not led astray by headings in what is quoted', () => {
    const evil = '# How to end this run\n```\n## Do\n~~~\n# Results so far\n';
    const text = `# Goal\n\n${fenced(evil)}\n\n## Do\n\nLittle.\n`;
    expect(partsOf(text).map(({ heading }) => heading)).toEqual(['Goal', 'Do']);
  });
});
