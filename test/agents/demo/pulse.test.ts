/** How the demo agent plays a pulse, by what Pulse answers: told by its kickoff, as Pulse writes it. */
import { expect, test } from 'vitest';
import { playPreflight } from '../../../src/agents/demo/preflight.ts';
import { type PulseAction, type PulseReply, playPulse } from '../../../src/agents/demo/pulse.ts';
import { demoRepositoryFiles } from '../../../src/agents/demo/repository.ts';
import { buildKickoff, preflightBrief } from '../../../src/loops/workflow/kickoff-text.ts';

function kickoff(id: string, title: string, description: string): string {
  return buildKickoff({
    title: 'Titles get slugs',
    approach: 'slugify and README stand here too, and are not this pulse.',
    pulse: { id, title, description, expectedChanges: ['README.md'], comments: null },
    others: [{ id: 'other', title: 'slugify the README', status: 'proposed', description: null }],
    branch: `titles--${id}`,
    run: 1,
    checks: ['node --test'],
    answer: null,
    before: null,
  });
}

/** Plays it over files in memory; `replies` are the answers to its calls, in turn. */
function play(unit: string, brief: string, replies: PulseReply[], files = demoRepositoryFiles()) {
  const actions: PulseAction[] = [];
  const play = playPulse({ brief, unit, iteration: 1, read: (path) => files[path] ?? null });
  let next = play.next();
  while (!next.done) {
    const action = next.value;
    actions.push(action);
    if (action.do === 'write') files[action.path] = action.content;
    next = play.next(action.do === 'call' ? replies.shift() : undefined);
  }
  const calls = actions.flatMap((action) => (action.do === 'call' ? [action.input] : []));
  const last = actions.at(-1)!;
  return { calls, files, said: last.do === 'say' ? last.text : '' };
}

const OK: PulseReply = { ok: true };

test('prepares a worktree: runs the checks, records what fails already, and counts it', () => {
  const calls: unknown[] = [];
  const play = playPreflight({ brief: preflightBrief(['make', 'npm test']) });
  const replies = [OK, { ok: false, reasons: ['exit 2'] }, OK, OK];
  let next = play.next();
  while (!next.done) {
    const action = next.value;
    if (action.do === 'call') calls.push([action.tool, action.input]);
    next = play.next(action.do === 'call' ? replies.shift() : undefined);
  }
  expect(calls).toEqual([
    ['shell', { command: 'make' }],
    ['shell', { command: 'npm test' }],
    ['record_baseline', expect.objectContaining({ source: 'Build', pattern: 'npm test: exit 2' })],
    ['preflight_done', expect.objectContaining({ buildSuccess: false, baselinesRecorded: 1 })],
  ]);
});

const SLUGIFY = kickoff('slugify', 'Add slugify', 'Add a slugify function, with tests.');

test('claims too early and carelessly, reads the reasons, mends it and names what git named', () => {
  const { 'test/slugify.test.js': _, ...files } = demoRepositoryFiles();
  const rejected = {
    ok: false,
    reasons: [
      'The summary is not a Conventional Commit',
      'filesChanged is not what git says. missing: src/index.js, odd.txt; not changed: src/slugify.js',
    ],
  };
  const { calls, files: after, said } = play('slugify', SLUGIFY, [rejected, OK], files);
  expect(calls).toEqual([
    { summary: 'Added slugify', filesChanged: ['src/slugify.js'] },
    {
      summary: 'feat: turn titles into slugs',
      filesChanged: ['odd.txt', 'src/index.js', 'test/slugify.test.js'],
    },
  ]);
  expect(after['src/slugify.js']).toContain("normalize('NFD')");
  expect(after['src/index.js']).toContain('./slugify.js');
  expect(said).toContain('accepted');
});

test('asks a person when it cannot mend what it is told', () => {
  const rejected = { ok: false, reasons: ['The pre-commit hook failed (exit 1):\nno'] };
  const { calls, said } = play('slugify', SLUGIFY, Array(4).fill(rejected));
  expect(calls).toHaveLength(4);
  expect(said).toMatch(/<signal>BLOCKED: The pre-commit hook failed \(exit 1\):<\/signal>$/);
});

test('goes on with the work of an earlier run instead of claiming too early again', () => {
  const files: Record<string, string> = {
    ...demoRepositoryFiles(),
    'src/slugify.js': 'export const slugify = 1;\n',
  };
  const { calls } = play('slugify', SLUGIFY, [OK], files);
  expect(calls).toMatchObject([{ summary: 'feat: turn titles into slugs' }]);
});

test('writes the usage into the README, once', () => {
  const brief = kickoff(
    'usage',
    'Show it in the README',
    'Add a section "Usage" with an example of slugify.',
  );
  const first = play('usage', brief, [OK]);
  expect(first.calls).toEqual([{ summary: expect.stringMatching(/^docs: /), filesChanged: ['README.md'] }]);
  expect(first.files['README.md']).toContain('## Usage');
  expect(play('usage', brief, [OK], first.files).calls[0]!.filesChanged).toEqual([]);
});

test('notes what a pulse asks for that a script cannot do', () => {
  const brief = kickoff('tokens', 'Validate tokens', 'Reject what has expired.');
  const { calls, files } = play('tokens', brief, [OK]);
  expect(calls[0]!.filesChanged).toEqual(['pulse-demo/tokens.md']);
  expect(files['pulse-demo/tokens.md']).toBe('# Validate tokens\n\nReject what has expired.\n');
});
