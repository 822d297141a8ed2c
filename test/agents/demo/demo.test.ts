/** The demo's session, iteration by iteration, in a real repository, judged by its real tests. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { demoAdapter } from '../../../src/agents/demo/adapter.ts';
import { failingTests, readAnswer, readChoice } from '../../../src/agents/demo/brief.ts';
import {
  DEMO_ANSWER,
  DEMO_GOAL,
  DEMO_VERIFY,
  demoRepositoryFiles,
} from '../../../src/agents/demo/repository.ts';
import { parseSignal } from '../../../src/domain/signals.ts';
import { outputSummary } from '../../../src/domain/summary.ts';
import { runProcess } from '../../../src/process/run.ts';
import { makeFolder, type PlayedRun, playRun } from '../fixture.ts';

const ENV = {
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

async function shell(cwd: string, command: string) {
  return runProcess({ runId: null, file: '/bin/sh', args: ['-c', command], cwd, env: ENV });
}

async function makeRepository(files: Record<string, string>): Promise<string> {
  const folder = makeFolder(files);
  const made = await shell(
    folder,
    'git init -q -b main && git add -A && git -c user.name=U -c user.email=u@x commit -qm start',
  );
  expect(made).toMatchObject({ code: 0, stderr: '' });
  return folder;
}

async function changedFiles(folder: string): Promise<string[]> {
  const { stdout } = await shell(
    folder,
    'git status --porcelain -uall && git add -A && git -c user.name=U -c user.email=u@x commit --allow-empty -qm work',
  );
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(3))
    .sort();
}

const brief = (...sections: string[]): string => [`# Goal\n\n${DEMO_GOAL}`, ...sections].join('\n\n');

/** What each run says and does, as a person who watches it would tell it. */
function story({ events }: PlayedRun): string[] {
  return events.flatMap((event) => (event.type === 'tool_start' ? [event.summary ?? ''] : []));
}

test('the demo session: a first try, a claim that the tests refute, a question, and the end', async () => {
  const repo = await makeRepository(demoRepositoryFiles());
  const verify = () => shell(repo, DEMO_VERIFY.join(' && '));

  const first = await playRun(demoAdapter, { worktree: repo, brief: brief(), iteration: 1 });
  expect(parseSignal(first.end.finalMessage)).toMatchObject({ signal: 'CONTINUE', source: 'explicit' });
  expect(story(first)).toEqual(['Read src/index.js', 'Read test/slugify.test.js', 'Write src/slugify.js']);
  expect(await changedFiles(repo)).toEqual(['src/slugify.js']);

  const second = await playRun(demoAdapter, { worktree: repo, brief: brief(), iteration: 2 });
  expect(parseSignal(second.end.finalMessage)).toMatchObject({ signal: 'COMPLETE', source: 'explicit' });
  expect(await changedFiles(repo)).toEqual(['src/index.js']);
  const refuted = await verify();
  expect(refuted.code).toBe(1);

  const third = await playRun(demoAdapter, {
    worktree: repo,
    brief: brief(`# Last outcome\n\nnode --test failed:\n\n\`\`\`\n${refuted.stdout}\n\`\`\``),
    iteration: 3,
  });
  expect(third.events).toContainEqual({
    type: 'text',
    text: expect.stringContaining(
      '"never repeats a dash, nor ends with one" and "writes letters without their accents" fail.',
    ),
  });
  const asked = parseSignal(third.end.finalMessage);
  expect(asked).toMatchObject({ signal: 'BLOCKED', reason: expect.stringContaining('Should ß become "ss"') });
  expect(await changedFiles(repo)).toEqual(['src/slugify.js']);

  const fourth = await playRun(demoAdapter, {
    worktree: repo,
    brief: brief(
      `# The person's answer\n\nYou asked: ${asked.reason}\n\n> ${DEMO_ANSWER}`,
      '# Progress\n\n- …',
    ),
    iteration: 4,
  });
  expect(parseSignal(fourth.end.finalMessage)).toMatchObject({ signal: 'COMPLETE', source: 'explicit' });
  expect(await changedFiles(repo)).toEqual(['README.md', 'src/slugify.js', 'test/slugify.test.js']);
  const passed = await verify();
  expect(passed).toMatchObject({ code: 0 });
  expect(passed.stdout).toContain('writes ß as ss');

  const again = await playRun(demoAdapter, { worktree: repo, brief: brief(), iteration: 5 });
  expect(parseSignal(again.end.finalMessage)).toMatchObject({ signal: 'COMPLETE', source: 'explicit' });
  expect(await changedFiles(repo)).toEqual([]);

  for (const { end, events } of [first, second, third, fourth, again]) {
    expect(end.ok).toBe(true);
    expect(outputSummary(end.finalMessage)).toMatch(/^\p{Lu}.{20,150}[.]$/u);
    expect(events[0]).toEqual({ type: 'started', model: 'demo-script' });
    expect(events.filter((event) => event.type === 'raw')).toEqual([]);
    const open = events.filter((event) => event.type === 'tool_start').map(({ id }) => id);
    expect(events.filter((event) => event.type === 'tool_end').map(({ id }) => id)).toEqual(open);
    const usage = events.findLast((event) => event.type === 'usage');
    expect(usage).toMatchObject({ scope: 'cumulative', costUsd: 0, inputTokens: expect.any(Number) });
    expect(usage?.outputTokens).toBeGreaterThan(20);
  }
});

test('drops ß when that is the answer, and the tests pass', async () => {
  const repo = await makeRepository(demoRepositoryFiles());
  for (const iteration of [1, 2, 3]) await playRun(demoAdapter, { worktree: repo, brief: '', iteration });
  await playRun(demoAdapter, { worktree: repo, brief: '## Answer\nJust drop it.', iteration: 4 });
  expect(await shell(repo, 'node --test')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('leaves ß out'),
  });
});

test('takes the usual spelling when it is resumed without an answer', async () => {
  const repo = await makeRepository(demoRepositoryFiles());
  for (const iteration of [1, 2, 3]) await playRun(demoAdapter, { worktree: repo, brief: '', iteration });
  const { end } = await playRun(demoAdapter, { worktree: repo, brief: brief(), iteration: 4 });
  expect(end.finalMessage).toContain('the usual spelling');
  expect((await shell(repo, 'node --test')).code).toBe(0);
});

test('does the same step again when an attempt is repeated, from scratch or over its own work', async () => {
  const repo = await makeRepository(demoRepositoryFiles());
  const run = (iteration: number) => playRun(demoAdapter, { worktree: repo, brief: brief(), iteration });
  const first = await run(1);
  await shell(repo, 'git stash -qu');
  expect((await run(1)).end.finalMessage).toBe(first.end.finalMessage);
  const second = await run(2);
  expect((await run(2)).end.finalMessage).toBe(second.end.finalMessage);
});

test('in any other repository it works in a folder of its own and says so', async () => {
  const files = {
    'package.json': '{"name":"theirs"}',
    'src/index.js': '// theirs\n',
    'README.md': 'theirs\n',
  };
  const repo = await makeRepository(files);
  const first = await playRun(demoAdapter, { worktree: repo, brief: '', iteration: 1 });
  expect(first.events).toContainEqual({ type: 'text', text: expect.stringContaining('slugify-demo/') });
  for (const iteration of [2, 3, 4]) await playRun(demoAdapter, { worktree: repo, brief: '', iteration });
  expect((await changedFiles(repo)).every((path) => path.startsWith('slugify-demo/'))).toBe(true);
  expect(readFileSync(join(repo, 'src/index.js'), 'utf8')).toBe('// theirs\n');
  expect((await shell(join(repo, 'slugify-demo'), 'node --test')).code).toBe(0);
});

test('takes a little over a second when somebody watches', async () => {
  const worktree = makeFolder(demoRepositoryFiles());
  const { process } = await playRun(demoAdapter, { worktree, environment: { PULSE_DEMO_SPEED: '' } });
  expect(process.durationMs).toBeGreaterThan(1_000);
  expect(process.durationMs).toBeLessThan(3_000);
});

test('fails as a crashed agent where it may not write', async () => {
  const worktree = makeFolder({ ...demoRepositoryFiles(), 'src/slugify.js/in-the-way': '' });
  const { end } = await playRun(demoAdapter, { worktree });
  expect(end).toMatchObject({ ok: false, failure: 'crashed' });
});

test.each([
  ['## Answer\n\nYes.\n\n## Progress\nno', 'Yes.'],
  ['# Answer from the person\n\nYou asked; this is the reply.\n\n```text\nYes.\n```\n\n# Progress', 'Yes.'],
  ["# The person's answer\n> Yes.", '> Yes.'],
  ['Rules.\n\nAnswer: Yes.\n', 'Yes.'],
  ['**Answer:** Yes.', 'Yes.'],
  ['<answer>Yes.</answer>', 'Yes.'],
  ['## Answers\n\n## Progress\n', null],
  ['A person will answer if you ask.', null],
])('finds the answer in %j', (text, answer) => {
  expect(readAnswer(text)).toBe(answer);
});

test.each([
  [DEMO_ANSWER, 'ss'],
  ['drop', 'dropped'],
  ['Please remove it.', 'dropped'],
  ['Do not drop it, use ss', 'ss'],
  ["Don't use “ss”. Drop it.", 'dropped'],
  ['Should ß become "ss" (Straße → strasse) or be dropped (Straße → strae)?\n> leave it out', 'dropped'],
  ['Whatever you like', 'ss'],
  ['drop it, ok?', 'dropped'],
])('understands the answer %j', (answer, choice) => {
  expect(readChoice(answer)).toBe(choice);
});

test('finds failing tests in the output of both reporters', () => {
  const spec =
    '✖ writes accents (0.5ms)\n✖ failing tests:\n  ✖ writes accents (0.5ms)\n✖ /tmp/a.test.js (30ms)\n✔ fine';
  const tap = 'ok 1 - fine\nnot ok 2 - writes accents\n';
  expect(failingTests(spec)).toEqual(['writes accents']);
  expect(failingTests(tap)).toEqual(['writes accents']);
  expect(failingTests('all is well')).toEqual([]);
});
