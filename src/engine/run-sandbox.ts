/** The sandbox of an attempt: what of this machine its agent, its checks and its tools can see (docs/security.md). */
import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AgentAdapter } from '../agents/contract.ts';
import type { AttemptSpec } from '../domain/attempt.ts';
import { disarmWorktree } from '../git/disarm.ts';
import type { Git } from '../git/exec.ts';
import { gitSandboxPaths } from '../git/sandbox-paths.ts';
import { holds, installations } from '../process/installation.ts';
import type { Sandbox } from '../process/sandbox.ts';
import { sandboxState } from '../process/sandbox-state.ts';

export interface SandboxRequest {
  spec: Pick<AttemptSpec, 'sandbox' | 'worktreePath' | 'command'>;
  /** Where the process works, if not in the attempt's worktree. */
  cwd?: string;
  /** Whose own files are needed; checks need nobody's. */
  adapter?: AgentAdapter;
  /** Programs that must be there, beside what the PATH has. */
  programs?: readonly string[];
  /** Folders of the run's own. */
  folders?: readonly string[];
}

export interface Sandboxes {
  /** `null`: the attempt asks for none, or takes what it gets and can have none here. */
  plan(request: SandboxRequest): Promise<Sandbox | null>;
}

export interface SandboxesOptions {
  git: Git;
  environment: NodeJS.ProcessEnv;
  /** Pulse's state: hidden, whatever else is shown. */
  stateDirectory: string;
  /** Where agents find `pulse`, and what that needs to run. */
  binDirectory: string;
  programDirectory: string;
}

export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { git, environment, stateDirectory, binDirectory, programDirectory } = options;
  const home = environment.HOME || homedir();

  return {
    async plan({ spec, cwd = spec.worktreePath, adapter, programs = [], folders = [] }) {
      if (!(await isWanted(spec.sandbox, environment.PATH))) return null;
      const { read = [], write = [] } = spec.sandbox ?? {};
      const shared = await gitSandboxPaths(cwd);
      const place = { home, environment, worktree: spec.worktreePath, command: spec.command };
      const own = adapter?.sandboxPaths?.(place) ?? { read: [], write: [] };
      const asked = [...own.write, ...write].map((path) => madeFolder(fromHome(path, home)));
      const seen = [...GIT_SETTINGS.map((name) => join(home, name)), ...own.read.map(madeFolder)];
      return {
        empty: [home, stateDirectory].filter((path) => path !== '/'),
        write: [cwd, ...folders, ...shared.write, ...asked],
        read: [
          ...installations({ path: environment.PATH ?? '', home, programs: [process.execPath, ...programs] }),
          ...TOOLCHAINS.flatMap((name) => environment[name] ?? []).filter((path) => !holds(path, home)),
          ...PROGRAM_PARTS.map((name) => join(programDirectory, name)),
          binDirectory,
          ...read.map((path) => fromHome(path, home)),
          ...seen.filter((path) => !isFile(path)),
          ...shared.read,
        ],
        copy: seen.filter(isFile),
        afterwards: () => disarmWorktree(git, cwd),
      };
    },
  };
}

const GIT_SETTINGS = ['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'];
/** Folders of programs that the environment names; none of them holds anybody's login. */
const TOOLCHAINS = ['JAVA_HOME', 'RUSTUP_HOME', 'PYENV_ROOT', 'NVM_DIR', 'VOLTA_HOME', 'VIRTUAL_ENV'];
const PROGRAM_PARTS = ['bin', 'src', 'dist', 'node_modules', 'package.json'];

async function isWanted(wish: AttemptSpec['sandbox'], path: string | undefined): Promise<boolean> {
  if (!wish) return false;
  // One that must be there and cannot is told by the process that does not start.
  return wish.mode === 'on' || (await sandboxState(path)).works;
}

function fromHome(path: string, home: string): string {
  if (path === '~') return home;
  const isFolder = path.endsWith('/');
  const absolute = path.startsWith('~/') ? join(home, path.slice(2)) : resolve(home, path);
  return isFolder && !absolute.endsWith('/') ? `${absolute}/` : absolute;
}

function madeFolder(path: string): string {
  if (!path.endsWith('/')) return path;
  mkdirSync(path, { recursive: true });
  return resolve(path);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
