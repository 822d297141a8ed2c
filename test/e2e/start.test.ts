import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_NODE, olderNode, until, useScene } from './scene.ts';

const scene = useScene();

/** Writes a file an iteration, and is done with the second. */
const TWO_STEPS = `echo "$PULSE_ITERATION" > "file$PULSE_ITERATION"
if [ "$PULSE_ITERATION" -ge 2 ]; then echo "Done. <signal>COMPLETE</signal>"; else echo "Part one. <signal>CONTINUE</signal>"; fi`;

const nodes = [
  ["the project's own Node.js", OWN_NODE],
  ['an older Node.js', olderNode()],
] as const;

describe('pulse start', () => {
  it.each(nodes)('runs a session to its verified end and tells it as JSON, under %s', async (_, node) => {
    if (!node) return;
    const command = scene.agent(TWO_STEPS);
    const ended = await scene.pulse(
      ['start', 'Do it', '--command', command, '--verify', 'test -f file2', '--json'],
      { node },
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).not.toContain('ExperimentalWarning');
    const last = ended.json.at(-1)! as unknown as { type: string; session: Record<string, unknown> };
    expect(last.type).toBe('session.ended');
    expect(last.session).toMatchObject({
      status: 'complete',
      stop_reason: 'completed',
      total_commits: 2,
      verify: ['test -f file2'],
    });
    const events = ended.json.slice(0, -1) as unknown as { seq: number; type: string }[];
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]!.type).toBe('session.created');
    expect(scene.git('show', `${last.session.branch_name}:file2`)).toBe('2');
    expect(scene.git('status', '--porcelain')).toBe('');
    expect(scene.git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('main');
  });

  it('tells it in plain lines on stderr and the result on stdout', async () => {
    const command = scene.agent(TWO_STEPS);
    const { code, stdout, stderr } = await scene.pulse(['start', 'Do it', '--command', command]);
    expect(code).toBe(0);
    expect(stderr).toContain('✓ 1 CONTINUE  1 file');
    expect(stderr).toContain('completion will be unverified');
    expect(stdout).toContain('✓ complete  unverified');
    expect(stdout).toMatch(/git diff main\.\.\.pulse\/do-it-\w{4}/);
    expect(stdout + stderr).not.toContain('\x1b');
  });

  it('says which changes of the user are not included', async () => {
    writeFileSync(join(scene.repository, 'draft.txt'), 'x');
    const command = scene.agent('echo "<signal>COMPLETE</signal>"');
    const { stderr } = await scene.pulse(['start', 'Do it', '--command', command]);
    expect(stderr).toContain('not committed: draft.txt');
  });

  it('says nothing of a config that is not committed, for it holds', async () => {
    await scene.pulse(['init']);
    expect(scene.git('status', '--porcelain')).toBe('?? .pulse/');
    const command = scene.agent('echo "<signal>COMPLETE</signal>"');
    const { code, stderr } = await scene.pulse(['start', 'Do it', '--command', command]);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('not included');
  });

  it('shows a rejected completion with the command that failed', async () => {
    const command = scene.agent('echo x > "f$PULSE_ITERATION"; echo "Done. <signal>COMPLETE</signal>"');
    const { code, stdout, stderr } = await scene.pulse([
      'start',
      'Do it',
      '--command',
      command,
      '--verify',
      'test -f f2',
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain('✗ 1 COMPLETE rejected');
    expect(stderr).toContain('test -f f2 → exit 1');
    expect(stdout).toContain('verified by test -f f2');
  });

  it('returns at once with --detach and the session goes on by itself', async () => {
    const command = scene.agent(`sleep 1; ${TWO_STEPS}`);
    const { code, json } = await scene.pulse(['start', 'Do it', '--command', command, '--detach', '--json']);
    expect(code).toBe(0);
    const detached = json.at(-1)! as unknown as { type: string; session: { id: string; status: string } };
    expect(detached.type).toBe('session.detached');
    const { id } = detached.session;
    const watched = await scene.pulse(['watch', id]);
    expect(watched.code).toBe(0);
    expect(watched.stdout).toContain('complete');
    const log = (): string => readFileSync(join(scene.home, 'logs', `${id}.log`), 'utf8');
    await until('the runner says that it has left', () => log().includes(`${id}: left`));
  });

  it('survives the end of its terminal', async () => {
    const command = scene.agent(`sleep 1; ${TWO_STEPS}`);
    const { child, ended, output } = scene.start(['start', 'Do it', '--command', command]);
    await until('the agent runs', () => output().includes(' begins'));
    child.kill('SIGHUP');
    await ended;
    await until('the session completes', async () => {
      const { json } = await scene.pulse(['list', '--json']);
      return (json[0] as unknown as { sessions: { status: string }[] }).sessions[0]?.status === 'complete';
    });
  });

  it('keeps working with a state directory whose path is too long for a socket', async () => {
    const home = join(scene.directory, 'h'.repeat(200 - scene.directory.length));
    const command = scene.agent(TWO_STEPS);
    const { code, stderr } = await scene.pulse(['start', 'Do it', '--command', command], {
      env: { PULSE_HOME: home },
    });
    expect(code, stderr).toBe(0);
    expect(existsSync(join(home, 'pulse.db'))).toBe(true);
  });

  it('finds its state directory again when PULSE_HOME is relative', async () => {
    const command = scene.agent(TWO_STEPS);
    const { code, stderr } = await scene.pulse(['start', 'Do it', '--command', command], {
      env: { PULSE_HOME: '../relative' },
    });
    expect(code, stderr).toBe(0);
    expect(readdirSync(join(scene.directory, 'relative'))).toContain('pulse.db');
  });
});

describe('exit codes', () => {
  it.each([
    ['complete', 0, 'echo "<signal>COMPLETE</signal>"', []],
    ['blocked', 3, 'echo "<signal>BLOCKED: Which port?</signal>"', []],
    ['blocked', 3, 'echo "<signal>CONTINUE</signal>"', ['--max-iterations', '1']],
  ] as const)('a session that ends %s exits %i', async (status, code, body, options) => {
    const ended = await scene.pulse(['start', 'Do it', '--command', scene.agent(body), '--json', ...options]);
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.json.at(-1)).toMatchObject({ type: 'session.ended', session: { status } });
  });

  it('a session whose agent keeps crashing exits 1', async () => {
    const ended = await scene.pulse(['start', 'Do it', '--command', scene.agent('exit 7'), '--json']);
    expect(ended.code, ended.stderr).toBe(1);
    expect(ended.json.at(-1)).toMatchObject({ session: { status: 'failed', stop_reason: 'agent_error' } });
  });

  it('a paused session exits 4 and an aborted one 5', async () => {
    const command = scene.agent(`sleep 1.5; echo "<signal>CONTINUE</signal>"`);
    const first = scene.start(['start', 'Pause me', '--command', command, '--json']);
    await until('the agent runs', () => first.output().includes('iteration.started'));
    const id = /"sessionId":"(ses_[^"]+)"/.exec(first.output())![1]!;
    expect((await scene.pulse(['pause', id])).code).toBe(0);
    expect((await first.ended).code).toBe(4);

    const second = scene.start(['resume', id, '--json']);
    await until('the agent runs again', () => second.output().includes('iteration.started'));
    const aborted = await scene.pulse(['abort', id, '--json']);
    expect(aborted.json[0]).toMatchObject({ session: { status: 'aborted' } });
    expect((await second.ended).code).toBe(5);
  });
});
