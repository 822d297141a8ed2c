/** The example of a swarm, as printed, with the real program and the scripted agent; and a swarm on a terminal. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { openTerminal, SCRIPT } from './open-terminal.ts';
import { OWN_NODE, PROGRAM, useScene } from './scene.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const scene = useScene();

it('the example works as printed, offline', async () => {
  const text = readFileSync(join(ROOT, 'examples/swarm/README.md'), 'utf8');
  const blocks = [...text.matchAll(/^```sh runnable\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  expect(blocks).toHaveLength(4);
  const { code, output } = await runShell(`${blocks.join('\n')}\ngit log --oneline main`);
  expect(code, output).toBe(0);
  expect(output).toContain('5 made');
  expect(output).toContain('not titles-readme: it waits for titles-slug');
  expect(output).toContain('titles-slug not accepted');
  expect(output).toContain('✓ complete  every bead is closed · verified');
  expect(output).toContain('4 of 4 closed');
  for (const subject of [
    'feat(titles-slug): turn titles into slugs',
    'docs(titles-readme): show how to make a slug',
    'docs(titles-style): note what titles-style asks for',
    'docs(titles-changes): note what titles-changes asks for',
  ])
    expect(output).toContain(subject);
  expect(output).toContain('writes letters without their accents');
  expect(output.match(/^Completed titles-/gm)).toHaveLength(4);
  // What was there before has not moved.
  expect(output.trim()).toMatch(/chore: titles as they are$/);
}, 90_000);

it.skipIf(!existsSync(SCRIPT))(
  'shows on a terminal what each worker does',
  async () => {
    await scene.pulse(['init']);
    await scene.pulse(['bead', 'create', '--id', 'app', '--type', 'epic', '--title', 'App']);
    const bead = ['--epic', 'app', '--file', 'one.txt', '--verify', 'test -s one.txt'];
    await scene.pulse(['bead', 'create', '--id', 'one', '--title', 'Write one', ...bead]);
    const agent = scene.agent('sleep 3; echo x > one.txt; echo "Wrote it"');
    const start = `exec '${OWN_NODE}' '${PROGRAM}' swarm start --epic app --workers 1 --command '${agent}'`;
    const { screen, exit } = openTerminal(scene, start, { NO_COLOR: '1' });
    expect(await exit, screen()).toBe(0);
    expect(screen()).toContain('workers at work');
    expect(screen()).toContain('  0 of 1 beads closed · 1 in progress');
    expect(screen()).toContain('  worker-1  one  agent working');
    expect(screen()).toContain('✓ one Write one');
  },
  60_000,
);

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
