/** Whether this machine can make the sandbox, found out by making one. */
import { type RunResult, runProcess } from './run.ts';
import { findBwrap, ISOLATION_OF_ROOT } from './sandbox.ts';

export type SandboxState =
  | {
      works: true;
      bwrap: string;
      /** The options that close it as far as this machine can. */
      isolation: readonly string[];
      /** What a person should know of it here; `null`: nothing. */
      note: string | null;
    }
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
  // bubblewrap has it since 0.8, and some containers do not let it.
  const closed = [...ISOLATION_OF_ROOT, '--disable-userns'];
  if ((await tryOut(bwrap, { isolation: closed, path })).code === 0)
    return { works: true, bwrap, isolation: closed, note: noteOf({ hasNamespaces: false }) };
  const { code, stderr, spawnError } = await tryOut(bwrap, { isolation: ISOLATION_OF_ROOT, path });
  if (code === 0)
    return { works: true, bwrap, isolation: ISOLATION_OF_ROOT, note: noteOf({ hasNamespaces: true }) };
  const said = spawnError?.message ?? (stderr.trim().split('\n').at(-1) || `it exited with ${code}`);
  return {
    works: false,
    reason: 'refused',
    message: `bubblewrap may not make a sandbox here: ${said}`,
    hint: 'The kernel must let users make namespaces (user.max_user_namespaces, kernel.unprivileged_userns_clone, AppArmor’s restriction of user namespaces); containers often forbid it.',
  };
}

function tryOut(
  bwrap: string,
  { isolation, path }: { isolation: readonly string[]; path: string | undefined },
): Promise<RunResult> {
  const args = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];
  return runProcess({
    runId: null,
    file: bwrap,
    args: [...args, ...isolation, 'true'],
    cwd: '/',
    env: { PATH: path ?? '/usr/bin:/bin' },
    timeoutMs: TIMEOUT_MS,
  });
}

function noteOf({ hasNamespaces }: { hasNamespaces: boolean }): string | null {
  if (process.getuid?.() !== 0) return null;
  const rest = hasNamespaces ? ' This bubblewrap cannot forbid user namespaces inside.' : '';
  return `You are root: the sandbox drops all capabilities, but what it shows for writing is written as root, and a fault in the kernel is worth more. An ordinary user is the better choice.${rest}`;
}

function missing(message: string, hint: string): SandboxState {
  return { works: false, reason: 'missing', message, hint };
}
