import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../src/terminal/text.ts';
import { openTerminal, SCRIPT } from './open-terminal.ts';
import { OWN_NODE, olderNode, PROGRAM, until, useScene } from './scene.ts';

const scene = useScene();
const nodes = [OWN_NODE, olderNode()].filter((node) => node !== null);

describe.skipIf(!existsSync(SCRIPT))('on a terminal', () => {
  const start = (node: string, body: string): string =>
    `exec '${node}' '${PROGRAM}' start 'Live' --command '${scene.agent(body)}'`;

  it('draws in place, hides the cursor and gives it back', async () => {
    const { screen, exit } = openTerminal(
      scene,
      start(OWN_NODE, 'sleep 1; echo x > x; echo "Done. <signal>COMPLETE</signal>"'),
    );
    expect(await exit).toBe(0);
    expect(screen()).toContain('\x1b[?25l');
    expect(screen().lastIndexOf('\x1b[?25h')).toBeGreaterThan(screen().lastIndexOf('\x1b[?25l'));
    expect(screen()).toContain('iteration 1/10 · starting the agent');
    expect(screen()).toContain('✓ complete');
  });

  it('uses no colour with NO_COLOR and no cursor movement on a dumb terminal', async () => {
    const { screen, exit } = openTerminal(scene, start(OWN_NODE, 'echo "<signal>COMPLETE</signal>"'), {
      NO_COLOR: '1',
      TERM: 'dumb',
    });
    expect(await exit).toBe(0);
    expect(screen()).not.toContain('\x1b');
  });

  it.each(nodes)('asks at Ctrl-C, and a press is one press (%s)', async (node) => {
    const { screen, type, exit } = openTerminal(
      scene,
      start(node, 'sleep 3; echo "<signal>CONTINUE</signal>"'),
    );
    await until('the agent works', () => screen().includes('agent working'));
    type('\x03');
    await until('it asks', () => screen().includes('[p]ause after this iteration'));
    type('p');
    await until('it pauses', () => screen().includes('Pausing after this iteration.'));
    expect(await exit).toBe(4);
    expect(screen()).toContain('✓ 1 CONTINUE');
  });

  it('detaches at a second Ctrl-C and the session goes on', async () => {
    const { screen, type, exit } = openTerminal(
      scene,
      start(OWN_NODE, 'sleep 8; echo "<signal>COMPLETE</signal>"'),
    );
    await until('the agent works', () => screen().includes('agent working'));
    type('\x03');
    await until('it asks', () => screen().includes('[d]etach'));
    type('\x03');
    expect(await exit).toBe(0);
    expect(screen()).toContain('Detached; the session continues.');
    await until('the session completes', async () => {
      const { json } = await scene.pulse(['list', '--json']);
      return (json[0] as unknown as { sessions: { status: string }[] }).sessions[0]?.status === 'complete';
    });
  });

  it('shows all sessions on one screen, answers one of them, and gives the screen back', async () => {
    const asks = scene.agent(
      '[ "$PULSE_ITERATION" = 2 ] && echo "Done. <signal>COMPLETE</signal>" || echo "<signal>BLOCKED: 80 or 8080?</signal>"',
    );
    expect((await scene.pulse(['start', 'Listen', '--command', asks])).code).toBe(3);
    const { screen, type, exit } = openTerminal(scene, `exec '${OWN_NODE}' '${PROGRAM}' watch`);
    await until('it shows the question', () => screen().includes('asks: 80 or 8080?'));
    expect(screen()).toContain('1 need you');
    type('a');
    await until('it asks for the answer', () => screen().includes('answer: '));
    type('8080\r');
    await until('the session is done', () => screen().includes('complete (unverified)'));
    type('q');
    expect(await exit).toBe(0);
    const [on, off] = ['\x1b[?1049h', '\x1b[?1049l'].map((code) => screen().lastIndexOf(code));
    expect(off).toBeGreaterThan(on!);
  });

  it('shows more of the agent at a key, and takes the answer to what it asks in place', async () => {
    const seen = join(scene.directory, 'seen');
    const body =
      '[ "$PULSE_ITERATION" = 2 ] && exec echo "Done. <signal>COMPLETE</signal>"; ' +
      `echo "the first line"; echo "the second line"; until [ -e '${seen}' ]; do sleep 0.1; done; ` +
      'echo; echo "<signal>BLOCKED: 80 or 8080?</signal>"';
    const { screen, type, exit } = openTerminal(scene, start(OWN_NODE, body));
    await until('the agent speaks', () => screen().includes('the second line'));
    // From here on only the last line is drawn, unless more is asked for.
    const shown = screen().length;
    type('e');
    await until('all of it is shown', () => screen().slice(shown).includes('│ the first line'));
    writeFileSync(seen, '');
    await until('it asks for the answer', () => screen().includes('leaves it for later'));
    type('Port 8080\r');
    expect(await exit).toBe(0);
    expect(screen()).toContain('resumed, answer: Port 8080');
    expect(screen()).toContain('✓ complete');
  });

  it('leaves a question for later at Enter', async () => {
    const asks = start(OWN_NODE, 'echo "<signal>BLOCKED: 80 or 8080?</signal>"');
    const { screen, type, exit } = openTerminal(scene, asks);
    await until('it asks for the answer', () => screen().includes('leaves it for later'));
    type('\r');
    expect(await exit).toBe(3);
  });

  it('aborts when asked to', async () => {
    const { screen, type, exit } = openTerminal(scene, start(OWN_NODE, 'sleep 30'));
    await until('the agent works', () => screen().includes('agent working'));
    type('\x03');
    await until('it asks', () => screen().includes('[a]bort'));
    type('a');
    expect(await exit).toBe(5);
    expect(screen()).toContain('✗ aborted');
    expect(screen()).not.toContain('error');
  });
});

const BOARD = `exec '${OWN_NODE}' '${PROGRAM}' watch`;
const CLEAR = '\x1b[H\x1b[2J';
const FRAME = '\x1b[?2026h';

describe.skipIf(!existsSync(SCRIPT))('all sessions on a terminal', () => {
  const complete = () => scene.agent('echo "Done. <signal>COMPLETE</signal>"');
  const startOne = (goal: string) => scene.pulse(['start', goal, '--command', complete()]);

  /** What is shown by the minute stays as it is for so long. */
  async function untilNoMinutePasses(withinMs: number): Promise<void> {
    const { json } = await scene.pulse(['list', '--json']);
    const { sessions } = json[0] as unknown as { sessions: { ended_at: string }[] };
    const minutes = [0, ...sessions.map(({ ended_at }) => Date.parse(ended_at))];
    const left = (since: number): number => 60_000 - ((Date.now() - since) % 60_000);
    await until('no minute passes', () => minutes.every((since) => left(since) > withinMs), 130_000);
  }

  it('writes nothing while nothing changes', async () => {
    await startOne('The first one');
    const { screen, type, exit } = openTerminal(scene, BOARD);
    await until('it is shown', () => screen().includes('complete (unverified)'));
    await untilNoMinutePasses(9_000);
    // Longer than any look at the store takes; that it looks is shown by what comes next.
    await delay(1_500);
    const before = screen().length;
    await delay(5_000);
    expect(screen().slice(before)).toBe('');
    await startOne('The second one');
    await until('what is new is shown', () => screen().slice(before).includes('The second one'));
    type('q');
    expect(await exit).toBe(0);
  });

  it('shows each followed session on a screen of its own, and says what Ctrl-C does there', async () => {
    await startOne('Older goal');
    const waits = scene.agent('sleep 60');
    await scene.pulse(['start', 'Newer goal', '--command', waits, '--detach']);
    const { screen, type, exit } = openTerminal(scene, BOARD);
    await until('it works', () => screen().includes('agent working'));
    const atFirst = screen().length;
    type('\r');
    await until('it is followed', () => screen().slice(atFirst).includes('▸ Newer goal'));
    const head = screen().slice(atFirst);
    expect(head).toContain('Ctrl-C: stop watching, the session continues');
    expect(head).not.toContain('pause, detach, abort');
    type('\x03');
    await until('it was left', () => screen().includes('Stopped watching; the session continues.'));
    await until('a key goes back', () => screen().includes('Any key goes back'));
    type(' ');
    await until('the board is back', () => screen().slice(atFirst).includes('1 done'));
    const atSecond = screen().length;
    type('G\r');
    await until('the other is followed', () => screen().slice(atSecond).includes('▸ Older goal'));
    const since = screen().slice(0, screen().lastIndexOf('▸ Older goal'));
    expect(since.slice(since.lastIndexOf(CLEAR))).not.toContain('Newer goal');
    // What stood in the terminal before the board comes back at the end, and not before it.
    expect(screen()).not.toContain('\x1b[?1049l');
    await until('a key goes back', () => screen().slice(atSecond).includes('Any key goes back'));
    type(' ');
    await until('the board is back', () => screen().slice(atSecond).includes('1 done'));
    type('gx');
    await until('it asks', () => screen().includes('for good?'));
    type('y');
    await until('it is aborted', () => screen().includes('Aborted. Its branch stays.'));
    type('q');
    expect(await exit).toBe(0);
  });

  it('draws at most eight times a second, however many keys come', async () => {
    await startOne('One');
    await startOne('Two');
    const { screen, type, exit } = openTerminal(scene, BOARD);
    await until('both are shown', () => screen().includes('Two') && screen().includes('One'));
    const [before, from] = [screen().length, performance.now()];
    for (let at = 0; at < 300; at++) {
      type(at % 2 === 0 ? 'j' : 'k');
      await delay(5);
    }
    type('/no such goal');
    await until('the last key is seen', () => screen().includes('no such goal'));
    const seconds = (performance.now() - from) / 1_000;
    const frames = screen().slice(before).split(FRAME).length - 1;
    expect(frames).toBeGreaterThan(2);
    expect(frames).toBeLessThanOrEqual(Math.ceil(seconds * 8) + 1);
    type('\r');
    type('q');
    expect(await exit).toBe(0);
  });

  it('fits a narrow terminal, and one that becomes another', async () => {
    await startOne('A goal of many words that no narrow terminal has room for in one line of it');
    const { screen, type, exit } = openTerminal(scene, `stty cols 44 rows 10; ${BOARD}`, { NO_COLOR: '1' });
    await until('it is shown', () => screen().includes('A goal of many'));
    const rowsOf = (text: string): string[] =>
      text
        .split('\x1b[')
        .map((part) => /^\d+;1H(.*)$/.exec(part)?.[1])
        .filter((row) => row !== undefined);
    for (const row of rowsOf(screen())) expect(displayWidth(row)).toBeLessThanOrEqual(44);
    const before = screen().length;
    const shows = (pid: number): boolean => commandLine(pid).includes(`${PROGRAM}\0watch`);
    const pid = scene.processes().find(shows)!;
    execFileSync('stty', ['-F', `/proc/${pid}/fd/0`, 'cols', '30', 'rows', '6']);
    const drawn = (): string => screen().slice(before);
    await until('it is drawn again', () => drawn().includes('\x1b[6;1H'));
    expect(drawn().startsWith(CLEAR)).toBe(true);
    for (const row of rowsOf(drawn())) expect(displayWidth(row)).toBeLessThanOrEqual(30);
    expect(drawn()).not.toContain('\x1b[7;1H');
    type('o');
    await until('it says why no page is opened', () => drawn().includes('Nobody serves'));
    type('q');
    expect(await exit).toBe(0);
  });
});

function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}
