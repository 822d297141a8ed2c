import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { commandLine, OWN_NODE, olderNode, until, useScene } from './scene.ts';

const scene = useScene();

const LONG = 'sleep 30; echo "<signal>COMPLETE</signal>"';
const ASKS = `if [ -f answered ]; then echo "Thanks. <signal>COMPLETE</signal>"; else touch answered; echo "<signal>BLOCKED: Which port?</signal>"; fi`;

interface Status {
  session: { id: string; status: string; stop_reason: string | null };
  iterations: { iteration_number: number; task_content: string; attempt: number }[];
}

async function status(id: string): Promise<Status> {
  const { json } = await scene.pulse(['status', id, '--json']);
  return json[0] as unknown as Status;
}

function sessionId(output: string): string {
  return /ses_[0-9a-f-]{36}/.exec(output)![0];
}

describe('pulse resume', () => {
  it('answers what the agent asked and goes on to the end', async () => {
    const blocked = await scene.pulse(['start', 'Serve it', '--command', scene.agent(ASKS)]);
    expect(blocked.code, blocked.stderr).toBe(3);
    expect(blocked.stdout).toContain('Which port?');
    const id = sessionId(blocked.stdout);
    expect(blocked.stdout).toContain(`pulse resume ${id} --answer "…"`);

    const resumed = await scene.pulse(['resume', id, '--answer', 'Port 8080.', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.json[0]).toMatchObject({ type: 'session.resumed' });
    expect(resumed.json.at(-1)).toMatchObject({ type: 'session.ended', session: { status: 'complete' } });
    const { iterations } = await status(id);
    expect(iterations.map(({ iteration_number: n }) => n)).toEqual([1, 2]);
    expect(iterations[1]!.task_content).toContain('Port 8080.');
  });

  it('needs a higher limit after the iteration limit, and says so', async () => {
    const command = scene.agent('echo "$PULSE_ITERATION" > n; echo "<signal>CONTINUE</signal>"');
    const { stdout } = await scene.pulse(['start', 'Go', '--command', command, '--max-iterations', '1']);
    const id = sessionId(stdout);
    const refused = await scene.pulse(['resume', id]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--max-iterations');
    const raised = await scene.pulse(['resume', id, '--max-iterations', '2', '--json']);
    expect(raised.code).toBe(3);
    expect(raised.json.at(-1)).toMatchObject({
      session: { stop_reason: 'iteration_limit', current_iteration: 2 },
    });
  });

  it('is refused inside a run, and so is a note', async () => {
    for (const words of [
      ['resume', 'ses_0123'],
      ['note', 'ses_0123', 'Do as you like.'],
    ]) {
      const { code, json } = await scene.pulse([...words, '--json'], { env: { PULSE_RUN_ID: 'run_1' } });
      expect(code).toBe(2);
      expect(json[0]).toMatchObject({ error: { code: 'inside_run' } });
    }
  });
});

describe('pulse note', () => {
  it('is kept for a stopped session, and as an answer makes it go on', async () => {
    const asks =
      'if grep -q "Port 8080" ; then echo "<signal>COMPLETE</signal>"; else echo "<signal>BLOCKED: Which port?</signal>"; fi';
    const blocked = await scene.pulse(['start', 'g', '--command', asks, '--json']);
    const { id } = (blocked.json.at(-1) as unknown as { session: { id: string } }).session;
    const noted = await scene.pulse(['note', id, 'Be quick.']);
    expect(noted.stdout).toContain(`pulse resume ${id}`);
    const answered = await scene.pulse(['note', id, 'Port 8080.', '--answer', '--json']);
    expect(answered.code, answered.stderr).toBe(0);
    expect(answered.json[0]).toMatchObject({ session: { status: 'running' } });
    const followed = await scene.pulse(['watch', id, '--json']);
    expect(followed.json.at(-1)).toMatchObject({ session: { status: 'complete' } });
  });
});

describe('what was asked of a running session', () => {
  it('is shown: the pause that comes, and at the end the note that nobody read', async () => {
    const go = `${scene.repository}-go`;
    const command = scene.agent(
      `while [ ! -e ${go} ]; do sleep 0.05; done; echo "<signal>COMPLETE</signal>"`,
    );
    const id = sessionId((await scene.pulse(['start', 'Long', '--command', command, '--detach'])).stdout);
    const following = scene.start(['watch', id]);
    await until('the agent works', () => following.output().includes(' begins'));
    expect((await scene.pulse(['pause', id])).code).toBe(0);
    expect((await scene.pulse(['note', id, 'Too late.'])).code).toBe(0);
    expect((await scene.pulse(['status', id])).stdout).toContain('it pauses after this iteration');
    expect((await scene.pulse(['status'])).stdout).toContain('pauses after this iteration');
    expect((await status(id)) as unknown).toMatchObject({ request: 'pause', unreadNotes: 1 });
    await until('the follower says so', () => following.output().includes('it pauses after this iteration'));
    writeFileSync(go, '');
    const { stdout } = await following.ended;
    const told = `1 note was not read: pulse follow ${id} "…" can still tell it`;
    expect(stdout).toContain(told);
    expect((await scene.pulse(['status', id])).stdout).toContain(told);
    expect((await scene.pulse(['status'])).stdout).toContain('1 note was not read');
  });
});

describe('an interrupted follower', () => {
  const cases = (['SIGINT', 'SIGTERM'] as const).flatMap((signal) =>
    [OWN_NODE, olderNode()].flatMap((node) => (node ? [[signal, node] as const] : [])),
  );
  it.each(cases)('pauses the session at %s and leaves nothing running (%s)', async (signal, node) => {
    const { child, ended, output } = scene.start(
      ['start', 'Long', '--command', scene.agent(LONG), '--json'],
      { node },
    );
    await until('the agent runs', () => output().includes('iteration.started'));
    child.kill(signal);
    const { code, json } = await ended;
    expect(code).toBe(128 + constants.signals[signal]);
    expect(json.at(-1)).toMatchObject({
      type: 'session.ended',
      session: { status: 'paused', stop_reason: 'paused_by_user' },
    });
    await until('all processes are gone', () => scene.processes().length === 0);
  });

  it('leaves the session alone when it only watches', async () => {
    const command = scene.agent('sleep 2; echo "<signal>COMPLETE</signal>"');
    const { stdout } = await scene.pulse(['start', 'Long', '--command', command, '--detach']);
    const watching = scene.start(['watch']);
    await until('it watches', () => watching.output().includes(' begins'));
    watching.child.kill('SIGINT');
    expect((await watching.ended).code).toBe(0);
    await until(
      'the session completes',
      async () => (await status(sessionId(stdout))).session.status === 'complete',
    );
  });
});

describe('a killed runner', () => {
  it('is back within 2 s and the session completes', async () => {
    const command = scene.agent('sleep 1.5; echo x > x; echo "<signal>COMPLETE</signal>"');
    const { ended, output } = scene.start(['start', 'Survive', '--command', command, '--json']);
    await until('the agent runs', () => output().includes('iteration.started'));
    const [runner] = runners();
    process.kill(runner!, 'SIGKILL');
    const killedAt = Date.now();
    await until('another runner', () => runners().some((pid) => pid !== runner), 2_000);
    expect(Date.now() - killedAt).toBeLessThan(2_000);
    const { code, json } = await ended;
    expect(code).toBe(0);
    const events = json as unknown as { type: string }[];
    expect(events.filter(({ type }) => type === 'iteration.retried')).toHaveLength(1);
  });

  it('is named as missing when its supervisor died too, and resume adopts the session', async () => {
    const command = scene.agent('sleep 1.5; echo x > x; echo "<signal>COMPLETE</signal>"');
    const { stdout } = await scene.pulse(['start', 'Adopt me', '--command', command, '--detach']);
    const id = sessionId(stdout);
    await until('the session runs', async () => (await status(id)).session.status === 'running');
    for (const pid of scene.processes().filter((pid) => /supervise|run-session/.test(commandLine(pid)))) {
      process.kill(pid, 'SIGKILL');
    }
    const listed = await scene.pulse(['list']);
    expect(listed.stdout).toContain('running (no runner)');
    expect(listed.stderr).toContain(`pulse resume ${id}`);
    expect((await scene.pulse(['list', '--json'])).code).toBe(0);
    const shown = await scene.pulse(['status', id]);
    expect(shown.stdout).toContain('running (no runner)');
    expect(shown.stdout).toContain(`pulse resume ${id}`);
    expect(shown.stdout).not.toContain('pulse watch');
    expect((await status(id)).session.status).toBe('running');
    const resumed = await scene.pulse(['resume', id, '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
  });

  it('is missed by a follower after a while, which says what to do and still ends its JSON', async () => {
    const command = scene.agent('sleep 1; echo "<signal>COMPLETE</signal>"');
    const { ended, output } = scene.start(['start', 'Lose me', '--command', command, '--json']);
    await until('the agent runs', () => output().includes('iteration.started'));
    for (const pid of scene.processes().filter((pid) => /supervise|run-session/.test(commandLine(pid)))) {
      process.kill(pid, 'SIGKILL');
    }
    const { code, stderr, json } = await ended;
    expect(code).toBe(1);
    expect(stderr).toContain('pulse resume ses_');
    expect(json.at(-1)).toMatchObject({ type: 'session.ended', session: { status: 'running' } });
  });

  function runners(): number[] {
    return scene.processes().filter((pid) => commandLine(pid).includes('run-session'));
  }
});
