import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_NODE, PROGRAM, useScene } from './scene.ts';

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
    expect(completed('pulse', 'start', '--agent', 'cl')).toBe('claude');
  });
});
