/** Whether this machine can make the sandbox, found out by making one. */
import { runProcess } from './run.ts';
import { findBwrap } from './sandbox.ts';

export type SandboxState =
  | { works: true; bwrap: string }
  | { works: false; reason: 'missing' | 'refused'; message: string; hint: string };

const TIMEOUT_MS = 10_000;
const known = new Map<string, Promise<SandboxState>>();

/** Found out once per process and PATH. Never throws. */
export function sandboxState(path: string | undefined): Promise<SandboxState> {
  const key = path ?? '';
  let state = known.get(key);
  if (state === undefined) {
    state = examine(path);
    known.set(key, state);
  }
  return state;
}

async function examine(path: string | undefined): Promise<SandboxState> {
  if (process.platform !== 'linux') {
    return missing('The sandbox needs Linux.', 'Run Pulse in a container or as another user instead.');
  }
  const bwrap = findBwrap(path);
  if (bwrap === null) {
    return missing('bubblewrap is not installed.', 'Install it, for example with `apt install bubblewrap`.');
  }
  const args = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];
  const { code, stderr, spawnError } = await runProcess({
    runId: null,
    file: bwrap,
    args: [...args, 'true'],
    cwd: '/',
    env: { PATH: path ?? '/usr/bin:/bin' },
    timeoutMs: TIMEOUT_MS,
  });
  if (code === 0) return { works: true, bwrap };
  const said = spawnError?.message ?? (stderr.trim().split('\n').at(-1) || `it exited with ${code}`);
  return {
    works: false,
    reason: 'refused',
    message: `bubblewrap may not make a sandbox here: ${said}`,
    hint: 'The kernel must let users make namespaces (user.max_user_namespaces, kernel.unprivileged_userns_clone, AppArmor’s restriction of user namespaces); containers often forbid it.',
  };
}

function missing(message: string, hint: string): SandboxState {
  return { works: false, reason: 'missing', message, hint };
}
