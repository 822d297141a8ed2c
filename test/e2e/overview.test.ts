import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_NODE, PROGRAM, until, useScene } from './scene.ts';

const scene = useScene();

interface Entry {
  id: string;
  blocked_reason: string | null;
  next: { command: string } | null;
}

describe('pulse status', () => {
  it('is the morning view: what stopped, why, and the one command that goes on', async () => {
    const asks = scene.agent('echo "<signal>BLOCKED: Which port?</signal>"');
    const spends = scene.agent(
      `pulse tool report_usage '{"costUsd": 4.4}' > reply.json; echo "<signal>CONTINUE</signal>"`,
    );
    const ships = scene.agent('echo x > x; echo "<signal>COMPLETE</signal>"');
    await scene.pulse(['start', 'Asks', '--command', asks]);
    await scene.pulse(['start', 'Spends', '--command', spends, '--budget-usd', '2']);
    await scene.pulse(['start', 'Ships', '--command', ships]);
    const { json } = await scene.pulse(['status', '--json']);
    const { groups, counts, sessions } = json[0] as unknown as {
      groups: Record<string, Entry[]>;
      counts: Record<string, number>;
      sessions: Entry[];
    };
    expect(counts).toEqual({ needs_you: 2, failed: 0, no_runner: 0, waiting: 0, running: 0, done: 1 });
    expect(sessions).toEqual([]);
    const [spending, asking] = groups.needs_you!;
    expect(asking).toMatchObject({ blocked_reason: 'Which port?' });

    const { stdout } = await scene.pulse(['status']);
    expect(stdout).toContain('Needs you (2)');
    expect(stdout).toContain('Which port?');
    expect(stdout).toContain(`pulse resume ${asking!.id} --answer "…"`);
    expect(stdout).toContain('4.40 of 2.00 USD spent');
    expect(stdout).toContain(`pulse resume ${spending!.id} --budget-usd 9`);
    expect(stdout).toContain('Done in the last 24 hours (1)');
  });
});

describe('naming a session', () => {
  it('takes the end of its id, and last for the newest of this project', async () => {
    const asks = scene.agent('echo "<signal>BLOCKED: Which port?</signal>"');
    const started = await scene.pulse(['start', 'Asks', '--command', asks, '--json']);
    const { session } = started.json.at(-1) as unknown as { session: { id: string } };
    const shown = async (name: string, cwd = scene.repository) =>
      scene.pulse(['status', name, '--json'], { cwd });
    expect((await shown(session.id.slice(-4))).json[0]).toMatchObject({ session: { id: session.id } });
    expect((await shown('last')).json[0]).toMatchObject({ session: { id: session.id } });
    const nowhere = await shown('last', scene.directory);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('here is no repository')]);
    writeFileSync(join(scene.repository, 'last'), '');
    expect((await scene.pulse(['research', 'start', 'last'])).stderr).not.toContain(session.id);
  });

  it('says where its goal was read from', async () => {
    const words = ['start', '--from', '-', '--command', 'echo "<signal>COMPLETE</signal>"'];
    expect((await scene.pulse(words, { stdin: 'Do it.\n' })).code).toBe(0);
    expect((await scene.pulse(['status', 'last'])).stdout).toContain('goal from standard input\n');
  });

  it('is completed by the shell, and so are agents', async () => {
    const asks = scene.agent('echo "<signal>BLOCKED: Which port?</signal>"');
    const started = await scene.pulse(['start', 'Asks', '--command', asks, '--json']);
    const { session } = started.json.at(-1) as unknown as { session: { id: string } };
    const bin = join(scene.directory, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'pulse'), `#!/bin/sh\nexec '${OWN_NODE}' '${PROGRAM}' "$@"\n`, { mode: 0o755 });
    const { stdout: script } = await scene.pulse(['completion', 'bash']);
    const completed = (...words: string[]) =>
      execFileSync(
        'bash',
        [
          '-c',
          `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pulse; echo "\${COMPREPLY[@]}"`,
          'bash',
          ...words,
        ],
        {
          encoding: 'utf8',
          env: { PATH: `${bin}:/usr/bin:/bin`, HOME: scene.directory, PULSE_HOME: scene.home },
        },
      ).trim();
    const end = session.id.slice(-4);
    expect(completed('pulse', 'resume', end.slice(0, 2))).toBe(end);
    expect(completed('pulse', 'status', 'la')).toBe('last');
    expect(completed('pulse', 'workflow', 'review', end.slice(0, 2))).toBe('');
    expect(completed('pulse', 'start', '--agent', 'cl')).toBe('claude');
  });
});

describe('what a person looks for', () => {
  it('names work that was not taken over, in status, log, export and abort, and says what there is not', async () => {
    const ready = join(scene.directory, 'ready');
    const agent = scene.agent(`echo half > half.txt; touch ${ready}; sleep 60`);
    const started = await scene.pulse(['start', 'Half', '--command', agent, '--detach']);
    const id = started.stdout.trim();
    await until('the agent works', () => existsSync(ready));
    await scene.pulse(['pause', id, '--now']);
    const ref = `refs/pulse/recovery/${id}/1.1`;
    await until('it is paused', async () => (await scene.pulse(['status', id])).stdout.includes('‖ paused'));
    for (const args of [
      ['status', id],
      ['log', id],
      ['export', id, '--format', 'md'],
      ['abort', id],
    ]) {
      const { stdout, stderr } = await scene.pulse(args);
      expect(stdout + stderr, args[0]).toContain(ref);
    }
    expect(scene.git('show', `${ref}:half.txt`)).toBe('half');
    const none = await scene.pulse(['log', id, '--iteration', '99']);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('has no iteration 99')]);
  });

  it('finds one line that is called session.ended in a stream, the last', async () => {
    const ships = scene.agent('echo "<signal>COMPLETE</signal>"');
    const { json } = await scene.pulse(['start', 'Ships', '--command', ships, '--json']);
    const ended = (json as { type?: string }[]).filter(({ type }) => type === 'session.ended');
    expect(ended).toEqual([json.at(-1)]);
    expect(ended[0]).toMatchObject({ session: { status: 'complete' } });
  });

  it('sees what a check printed that blocked a session', async () => {
    const ships = scene.agent('echo "<signal>COMPLETE</signal>"');
    const verify = 'echo "sh: 1: xo: not found"; exit 127';
    await scene.pulse(['start', 'Ships', '--command', ships, '--verify', verify]);
    expect((await scene.pulse(['status'])).stdout).toContain('xo: not found');
    expect((await scene.pulse(['log', 'last'])).stdout).toContain('  sh: 1: xo: not found');
  });
});
