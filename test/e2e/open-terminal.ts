import { spawn } from 'node:child_process';
import type { Scene } from './scene.ts';

export const SCRIPT = '/usr/bin/script';

/** A real terminal, by util-linux' `script`. */
export function openTerminal(scene: Scene, command: string, env: Record<string, string> = {}) {
  const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], {
    cwd: scene.repository,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: scene.directory,
      PULSE_HOME: scene.home,
      TERM: 'xterm',
      SHELL: '/bin/sh',
      ...env,
    },
  });
  let screen = '';
  child.stdout.on('data', (chunk) => {
    screen += chunk;
  });
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { screen: () => screen, type: (keys: string) => void child.stdin.write(keys), exit };
}
