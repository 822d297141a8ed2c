import { existsSync } from 'node:fs';
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
