import { spawn } from 'node:child_process';

/** `false`: there is no screen here, or nothing that opens addresses. What it starts outlives this process. */
export function openInBrowser(url: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = environment;
  const hasScreen = process.platform === 'darwin' || Boolean(DISPLAY || WAYLAND_DISPLAY);
  if (!hasScreen || SSH_CONNECTION) return Promise.resolve(false);
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  return new Promise((resolve) => {
    const child = spawn(program, [url], { detached: true, stdio: 'ignore', env: environment });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
