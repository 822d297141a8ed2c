import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
