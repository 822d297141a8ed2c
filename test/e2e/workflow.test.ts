/** Workflows from the command line, with the real program: the example as printed, and each action with its refusals. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { COMMANDS } from '../../src/cli/commands.ts';
import { parseCommand } from '../../src/cli/parser.ts';
import { parsePlan } from '../../src/loops/workflow/plan.ts';
import { type Ended, OWN_NODE, PROGRAM, until, useScene } from './scene.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const scene = useScene();

const pulses = (...ids: string[]) => ids.map((id) => ({ id, title: `Do ${id}`, description: `Do ${id}.` }));
const plan = (...ids: string[]) => ({ title: 'Greet people', branch: 'greet', pulses: pulses(...ids) });
const done = (summary: string, ...filesChanged: string[]) =>
  `pulse tool pulse_done '${JSON.stringify({ summary, filesChanged })}' > /dev/null`;
const AGENT = `case "$PULSE_UNIT" in
one) echo hello > hello.txt; ${done('feat: say hello', 'hello.txt')};;
two) echo bye > bye.txt; ${done('feat: say bye', 'bye.txt')};;
review-1) echo more > more.txt; ${done('fix: say more', 'more.txt')};;
esac`;

function planFile(content: unknown, name = 'plan.yaml'): string {
  const path = join(scene.directory, name);
  writeFileSync(path, typeof content === 'string' ? content : stringify(content));
  return path;
}

const workflow = (...args: string[]): Promise<Ended> => scene.pulse(['workflow', ...args, '--json']);

/** Started with `--json` and followed until it stops. */
async function started(
  content: unknown,
  { agent = AGENT, args = [] }: { agent?: string; args?: string[] } = {},
): Promise<{ id: string; ended: Ended }> {
  const ended = await workflow('start', planFile(content), '--command', scene.agent(agent), ...args);
  return { id: session(ended).id, ended };
}

/** Of the last line, which is always about the session. */
function session(ended: Ended): { id: string; status: string; stop_reason: string; branch_name: string } {
  const last = ended.json.at(-1) as { type?: string; session?: never } | undefined;
  expect(last, ended.stderr).toMatchObject({ session: { id: expect.stringMatching(/^ses_/) } });
  return last!.session!;
}

async function shown(id: string) {
  const [view] = (await workflow('show', id)).json;
  return view as unknown as {
    session: { status: string; stop_reason: string };
    workflow: Record<string, unknown>;
    pulses: Record<string, unknown>[];
    preflight: Record<string, unknown>;
  };
}

describe('a plan that waits for approval', () => {
  it('is shown with all that is approved, and as a file to edit that approves as it stands', async () => {
    const content = {
      ...plan('one'),
      approach: 'Keep it simple.',
      verify: [{ command: 'test -f hello.txt', source: 'Test', scope: ['*.txt'] }],
    };
    const ended = await scene.pulse([
      'workflow',
      'start',
      planFile(content),
      '--command',
      scene.agent(AGENT),
    ]);
    expect(ended.code).toBe(3);
    const wanted = [
      'Keep it simple.',
      'Do one.',
      'test -f hello.txt  (when *.txt changes)',
      'workflow show',
      '--out',
    ];
    for (const text of wanted) expect(ended.stdout).toContain(text);
    const again = await scene.pulse(['workflow', 'show', 'last']);
    for (const text of wanted) expect(again.stdout).toContain(text);
    const out = join(scene.directory, 'edited.yaml');
    const written = await scene.pulse(['workflow', 'show', 'last', '--out', out]);
    expect(written).toMatchObject({ code: 0, stdout: `${out}\n` });
    expect(parse(readFileSync(out, 'utf8'))).toEqual(content);
    expect((await scene.pulse(['workflow', 'show', 'last', '--out', out])).code).toBe(2);
    writeFileSync(out, readFileSync(out, 'utf8').replace('Do one.', 'Do one, and well.'));
    const approved = await workflow(
      'approve',
      session(await scene.pulse(['status', 'last', '--json'])).id,
      '--plan',
      out,
    );
    expect(session(approved)).toMatchObject({ status: 'blocked', stop_reason: 'approval_required' });
    const { workflow: row } = await shown('last');
    expect((row.plan as { pulses: { description: string }[] }).pulses[0]!.description).toBe(
      'Do one, and well.',
    );
  });
});

describe('the example', () => {
  it('works as printed, offline', async () => {
    const text = readFileSync(join(ROOT, 'examples/workflow/README.md'), 'utf8');
    const blocks = [...text.matchAll(/^```sh runnable\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
    expect(blocks.length).toBeGreaterThan(4);
    const { code, output } = await runShell(`${blocks.join('\n')}\ngit status --porcelain`);
    expect(code, output).toBe(0);
    expect(output).toContain('one test fails, and did so before');
    expect(output.match(/exit code 3/g)).toHaveLength(2);
    // All that is approved: what is to be done, and what will be run.
    expect(output).toMatch(/^ {2}slugify {2}Add slugify\n {4}Add a slugify function/m);
    expect(output).toMatch(
      /^These commands will be run\n {2}setup {2}node --version\n {2}test {3}node --test$/m,
    );
    expect(output).toMatch(/✓ preflight .* 1 known issue/);
    expect(output).toContain('✗ slugify not accepted (1)');
    expect(output).toContain('is not a Conventional Commit');
    expect(output).toContain('missing: src/index.js, test/slugify.test.js');
    expect(output).toContain('`node --test`: 2 new errors');
    expect(output).toContain('looks behind a quotation mark');
    expect(output).toContain('reviewed and merged');
    expect(output.trim()).toMatch(
      /docs: show how to make a slug\n\w+ feat: turn titles into slugs\n\w+ chore: titles as they are$/,
    );
  }, 60_000);

  it('shows with any other plan what a script can do: it notes what was asked', async () => {
    const ended = await workflow('start', planFile(plan('one', 'two')), '--agent', 'demo', '--yes');
    expect(session(ended)).toMatchObject({ status: 'blocked', stop_reason: 'approval_required' });
    expect(scene.git('show', 'greet:pulse-demo/two.md')).toContain('Do two.');
    expect(scene.git('log', '--format=%s', 'main..greet').split('\n')).toEqual([
      'docs(pulse-demo): note what two asks for',
      'docs(pulse-demo): note what one asks for',
    ]);
  }, 60_000);
});

it('the demo agent prepares a worktree where the files do not say how', async () => {
  writeFileSync(join(scene.repository, 'CMakeLists.txt'), 'project(x)\n');
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'build: cmake');
  const verify = [{ command: 'echo "no compiler here"; exit 3', source: 'Build' }];
  const content = planFile({ ...plan('one'), verify });
  const { code, stderr } = await scene.pulse(['workflow', 'start', content, '--agent', 'demo', '--yes']);
  expect(code, stderr).toBe(3);
  expect(stderr).toContain(' begins');
  expect(stderr).toMatch(/✓ preflight +ran 1 check\(s\), 1 of them failing from before/);
  expect(stderr).not.toContain('the worktree is set up');
  const [list] = (await scene.pulse(['list', '--json'])).json as unknown as { sessions: { id: string }[] }[];
  expect((await shown(list!.sessions[0]!.id)).preflight).toMatchObject({
    status: 'completed',
    buildSuccess: false,
  });
}, 60_000);

describe('docs/workflow.md', () => {
  const text = readFileSync(join(ROOT, 'docs/workflow.md'), 'utf8');
  const fences = (info: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${info}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block]) => block!);

  it('names only commands and options that there are', () => {
    const lines = fences('sh').flatMap((block) => block.split('\n').filter(Boolean));
    expect(lines.length).toBeGreaterThan(12);
    for (const line of lines) {
      const words = [...line.replace(/\s#.*$/, '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)];
      const [program, ...argv] = words.map(([, one, two, plain]) => one ?? two ?? plain!);
      expect(program).toBe('pulse');
      expect(() => parseCommand(argv, COMMANDS), line).not.toThrow();
    }
  });

  it('shows a plan that is one', () => {
    const [yaml] = fences('yaml');
    expect(parsePlan(parse(yaml!))).toMatchObject({ pulses: [{ id: 'jwt' }, { dependsOn: ['jwt'] }] });
  });
});

describe('what is refused', () => {
  it('lists every fault of a plan at once', async () => {
    const file = planFile({
      title: '',
      pulses: [{ id: 'Big One', title: 'x', description: 'y', color: 'red' }, { id: 'b' }],
      verify: [{ command: 'true', source: 'Vibes' }],
    });
    const ended = await refused(['start', file, '--command', 'true'], 'invalid_plan');
    for (const place of [
      ...['title', 'pulses[0].id', 'pulses[0]', 'pulses[1].title', 'pulses[1].description'],
      'verify[0].source',
    ])
      expect(ended.stderr).toContain(`${place}: `);
    expect(errorOf(ended).details.violations).toHaveLength(6);
  });

  it.each([
    ['an id given twice', { pulses: pulses('a', 'a') }, 'given twice'],
    ['no pulse', { pulses: [] }, 'needs a pulse'],
    [
      'a circle',
      {
        pulses: [
          { ...pulses('a')[0], dependsOn: ['b'] },
          { ...pulses('b')[0], dependsOn: ['a'] },
        ],
      },
      'circle',
    ],
    ['an unknown dependency', { pulses: [{ ...pulses('a')[0], dependsOn: ['z'] }] }, 'which does not exist'],
  ])('refuses a plan with %s', async (_, more, text) => {
    const file = planFile({ title: 'T', ...more });
    expect((await refused(['start', file, '--command', 'true'], 'invalid_plan')).stderr).toContain(text);
  });

  it('refuses what is no plan, no file, no action, and a branch that exists', async () => {
    const ok = ['--command', 'true'];
    await refused(['start', 'nowhere.yaml', ...ok], 'invalid_input');
    await refused(['start', '.', ...ok], 'invalid_input');
    await refused(['start', planFile('{"title": '), ...ok], 'invalid_input');
    await refused(['start', planFile('just words'), ...ok], 'invalid_plan');
    await refused(['start', planFile({ ...plan('a'), branch: 'main' }), ...ok], 'branch_exists');
    scene.git('branch', 'again--a-2');
    const again = await refused(
      ['start', planFile({ ...plan('a'), branch: 'again' }), ...ok],
      'branch_exists',
    );
    expect(again.stderr).toContain('git branch -D again--a-2');
    await refused(['start', planFile(plan('a')), '--base', 'nope', ...ok], 'unknown_base');
    await refused(['start', planFile(plan('a')), '--extensions', 'never', ...ok], 'usage');
    await refused(['start'], 'usage');
    await refused(['begin', 'x'], 'usage');
    await refused(['show', 'ses_00000000'], 'not_found');
  }, 60_000);

  it('is for people: an agent inside a run gets nothing of it', async () => {
    const call = { env: { PULSE_RUN_ID: 'run_1' } };
    const ended = await scene.pulse(['workflow', 'approve', 'ses_0', '--json'], call);
    expect([ended.code, errorOf(ended).code]).toEqual([2, 'inside_run']);
  });

  it('refuses each action out of its time and changes nothing', async () => {
    const { id, ended } = await started(plan('one'));
    expect(ended.code).toBe(3);
    const before = await shown(id);
    await refused(['extension', id, '--approve'], 'invalid_transition', 1);
    await refused(['extension', id], 'usage', 1);
    await refused(['extension', id, '--approve', '--deny'], 'usage', 1);
    await refused(['review', id, '--approve'], 'invalid_transition', 1);
    await refused(['review', id, '--reject', 'x'], 'invalid_transition', 1);
    await refused(['review', id], 'usage', 1);
    await refused(['review', id, '--approve', '--reject', 'x'], 'usage', 1);
    await refused(['review', id, '--approve', '--merge', 'rebase'], 'usage', 1);
    await refused(['stop', id], 'invalid_transition', 1);
    await refused(['approve', id, '--plan', 'nowhere.yaml'], 'invalid_input', 1);
    const resumed = await scene.pulse(['resume', id, '--json']);
    expect([resumed.code, errorOf(resumed).code]).toEqual([2, 'wrong_command']);
    expect(errorOf(resumed).hint).toContain(`pulse workflow approve ${id}`);
    expect(await shown(id)).toEqual(before);

    expect((await workflow('approve', id)).code).toBe(3);
    await refused(['approve', id], 'invalid_transition', 1);
  }, 90_000);

  /** Exit 2, an error with this code on both streams, and as many sessions as before. */
  async function refused(args: string[], code: string, sessions = 0): Promise<Ended> {
    const refs = scene.git('for-each-ref');
    const ended = await workflow(...args);
    expect([args, ended.code, errorOf(ended).code]).toEqual([args, 2, code]);
    expect(ended.stderr).toMatch(/^error: /);
    expect(ended.stderr).not.toContain('    at ');
    expect(scene.git('for-each-ref')).toBe(refs);
    const [list] = (await scene.pulse(['list', '--json'])).json as unknown as { sessions: unknown[] }[];
    expect(list!.sessions).toHaveLength(sessions);
    return ended;
  }
});

describe('a workflow from the command line', () => {
  it('waits for approval, review and again review, and each answer is told as JSON', async () => {
    const { id, ended } = await started(plan('one', 'two'));
    expect(ended.code).toBe(3);
    expect(ended.json.at(-1)).toMatchObject({
      type: 'session.ended',
      session: { stop_reason: 'approval_required' },
    });
    expect((await shown(id)).pulses).toMatchObject([{ status: 'proposed' }, { status: 'proposed' }]);

    const approved = await workflow('approve', id);
    expect(approved.code).toBe(3);
    const types = approved.json.map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(['PlanCardResolved', 'preflight.completed', 'PulseCompleted']),
    );
    expect(types).not.toContain('session.created');
    const view = await shown(id);
    expect(Object.keys(view)).toEqual(['session', 'trust', 'workflow', 'pulses', 'preflight']);
    expect(view.workflow).toMatchObject({
      sessionId: id,
      planVersion: 1,
      approvedBy: expect.stringMatching(/^cli/),
    });
    expect(view.pulses[0]).toMatchObject({
      plannedPulseId: 'one',
      status: 'succeeded',
      hasUnresolvedIssues: false,
      pulseBranch: 'greet--one',
      checkpointCommitSha: scene.git('rev-parse', 'greet~1'),
    });
    expect((await workflow('baseline', id)).json).toEqual([{ baseline: [] }]);

    const rejected = await workflow('review', id, '--reject', 'Say more.');
    expect([rejected.code, session(rejected).stop_reason]).toEqual([3, 'approval_required']);
    expect((await shown(id)).pulses.at(-1)).toMatchObject({
      plannedPulseId: 'review-1',
      comments: 'Say more.',
    });
    const refreshed = await workflow('baseline', id, 'refresh');
    expect([refreshed.code, session(refreshed).stop_reason]).toEqual([3, 'approval_required']);

    const merged = await workflow('review', id, '--approve', '--merge', 'merge');
    expect([merged.code, session(merged).status]).toEqual([0, 'complete']);
    expect(scene.git('log', '--format=%s', '--first-parent', 'main').split('\n')).toEqual([
      'Merge greet: Greet people',
      'first',
    ]);
    expect(scene.git('status', '--porcelain')).toBe('');
    expect(readFileSync(join(scene.repository, 'more.txt'), 'utf8')).toBe('more\n');
  }, 90_000);

  it('asks before another run, and the answer decides', async () => {
    const agent = `if [ -f half ]; then echo r > rest; ${done('feat: all', 'half', 'rest')}; else echo h > half
      pulse tool request_extension '{"reason": "long", "completed": ["half"], "remaining": ["rest"]}' > /dev/null; fi`;
    const args = ['--yes', '--extensions', 'ask'];
    const given = await started({ ...plan('one'), branch: 'given' }, { agent, args });
    expect([given.ended.code, session(given.ended).stop_reason]).toEqual([3, 'extension_requested']);
    const goesOn = await workflow('extension', given.id, '--approve');
    expect(goesOn.json.map(({ type }) => type)).toContain('ExtensionApproved');
    expect(session(goesOn).stop_reason).toBe('approval_required');

    const denied = await started({ ...plan('one'), branch: 'denied' }, { agent, args });
    const failed = await workflow('extension', denied.id, '--deny');
    expect([failed.code, session(failed).stop_reason]).toEqual([1, 'pulse_failed']);
    expect(scene.git('log', '-1', '--format=%s', 'denied--one')).toContain('[RECOVERY]');
    expect(scene.git('show', 'denied--one:half')).toBe('h');
  }, 90_000);

  it('detaches, is stopped with its work kept, and begins the pulse anew', async () => {
    const [go, began] = ['go', 'began'].map((name) => join(scene.directory, name)) as [string, string];
    const agent = `if [ -f ${go} ]; then echo y > y; ${done('feat: y', 'y')}; else echo half > half; touch ${began}; sleep 60; fi`;
    const { id, ended } = await started(plan('one'), { agent, args: ['--yes', '--detach'] });
    expect(ended.code).toBe(0);
    expect(ended.json.map(({ type }) => type)).toEqual(['session.detached']);
    await until('the agent works', () => existsSync(began));
    const stopped = await workflow('stop', id);
    expect(stopped.code).toBe(0);
    await until('it is paused', async () => (await shown(id)).session.status === 'paused');
    expect((await shown(id)).pulses).toMatchObject([
      { status: 'stopped', isRecoveryCheckpoint: true, pulseBranch: 'greet--one' },
    ]);
    expect(scene.git('show', 'greet--one:half')).toBe('half');
    writeFileSync(go, '');
    expect((await scene.pulse(['resume', id, '--json'])).code).toBe(3);
    expect((await shown(id)).pulses).toMatchObject([
      { status: 'stopped' },
      { status: 'succeeded', pulseBranch: 'greet--one-2', comments: expect.stringContaining('greet--one') },
    ]);
  }, 90_000);

  it('takes an edited plan while it runs, for what has not been started', async () => {
    const [go, began] = ['go', 'began'].map((name) => join(scene.directory, name)) as [string, string];
    const agent = `if [ "$PULSE_UNIT" = one ]; then touch ${began}; until [ -f ${go} ]; do sleep 0.1; done; fi\n${AGENT}`;
    const { id } = await started(plan('one', 'gone'), { agent, args: ['--yes', '--detach'] });
    await until('the agent works', () => existsSync(began));
    const edited = planFile(plan('one', 'two'), 'edited.yaml');
    const approved = await workflow('approve', id, '--plan', edited, '--detach');
    expect(approved.code).toBe(0);
    writeFileSync(go, '');
    expect((await scene.pulse(['watch', id, '--json'])).code).toBe(3);
    const view = await shown(id);
    expect(view.workflow).toMatchObject({ planVersion: 2 });
    expect(view.pulses).toMatchObject([
      { plannedPulseId: 'one', status: 'succeeded' },
      { plannedPulseId: 'two', status: 'succeeded' },
    ]);
  }, 90_000);
});

function errorOf({ json, stderr }: Ended) {
  const last = json.at(-1) as { error?: object } | undefined;
  expect(last?.error, stderr).toBeDefined();
  return last!.error as { code: string; hint: string; details: { violations: string[] } };
}

/** In the checkout, with a `pulse` that is this one, and with temporary folders inside the scene. */
function runShell(script: string): Promise<{ code: number | null; output: string }> {
  const bin = join(scene.directory, 'bin');
  mkdirSync(bin);
  const program = join(bin, 'pulse');
  writeFileSync(program, `#!/bin/sh\nexec '${OWN_NODE}' '${PROGRAM}' "$@"\n`);
  chmodSync(program, 0o755);
  const { directory, home } = scene;
  const path = `${bin}:${join(OWN_NODE, '..')}:${process.env.PATH}`;
  const env = { PATH: path, HOME: directory, TMPDIR: directory, PULSE_HOME: home, PULSE_DEMO_SPEED: '0' };
  return new Promise((done, reject) => {
    const shell = spawn('/bin/sh', ['-ec', `exec 2>&1\n${script}`], { cwd: ROOT, env });
    let output = '';
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk));
    shell.once('error', reject);
    shell.once('close', (code) => done({ code, output }));
  });
}
