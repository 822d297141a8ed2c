/** The sandbox of an attempt: what of this machine its agent, its checks and its tools can see (docs/security.md). */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { AgentAdapter } from '../../agents/contract.ts';
import type { AttemptSpec } from '../../domain/attempt.ts';
import type { Git, GitPlace } from '../../git/exec.ts';
import { removePlantedHooks } from '../../git/remove-planted-hooks.ts';
import { bringObjects } from '../../git/run-objects.ts';
import { gitSandboxPaths, placeOf } from '../../git/sandbox-paths.ts';
import { agentEnvironment } from '../../process/environment.ts';
import { holds, installations } from '../../process/installation.ts';
import type { Sandbox } from '../../process/sandbox.ts';
import { sandboxState } from '../../process/sandbox-state.ts';
import { heldOutFolder } from '../../referee/held-out.ts';
import type { RoomFolders } from '../../referee/room/room-git.ts';
import { encloseGit } from './enclosed-git.ts';

export interface SandboxRequest {
  spec: Pick<
    AttemptSpec,
    'sandbox' | 'worktreePath' | 'projectPath' | 'command' | 'environmentPass' | 'referee' | 'needs'
  >;
  /** Where the process works, if not in the attempt's worktree. */
  cwd?: string;
  /** Whose own files are needed; checks need nobody's. */
  adapter?: AgentAdapter;
  /** Programs that must be there, beside what the PATH has. */
  programs?: readonly string[];
  /** Folders of the run's own. */
  folders?: readonly string[];
  /** A clean room is no worktree of the repository: it has a repository of its own, which borrows these objects. */
  room?: { folders: RoomFolders; objects: readonly string[]; isReadOnly?: boolean };
}

export interface Sandboxes {
  /** `null`: the attempt asks for none, or takes what it gets and can have none here. */
  plan(request: SandboxRequest): Promise<Sandbox | null>;
  /**
   * Git for calls in a checkout that exists and that an agent can write. Where the attempt is enclosed, so is git: the
   * filters and nested repositories that it meets there are the agent's to choose.
   */
  gitIn(request: Pick<SandboxRequest, 'spec' | 'cwd'> & { signal?: AbortSignal }): Promise<Git>;
  /** The same for a clean room, whose repository is out of a run's sight. */
  gitInRoom(
    request: Pick<SandboxRequest, 'spec'> & {
      room: NonNullable<SandboxRequest['room']>;
      place: GitPlace;
      signal?: AbortSignal;
    },
  ): Promise<Git>;
}

export interface SandboxesOptions {
  git: Git;
  environment: NodeJS.ProcessEnv;
  /** Pulse's state: always hidden. */
  stateDirectory: string;
  /** Where agents find `pulse`, and what that needs to run. */
  binDirectory: string;
  programDirectory: string;
}

export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { git, environment, stateDirectory, binDirectory, programDirectory } = options;
  const home = environment.HOME || homedir();

  const sandboxes: Sandboxes = {
    async plan({ spec, room, cwd = room?.folders.tree ?? spec.worktreePath, ...more }) {
      const { adapter, programs = [], folders = [] } = more;
      if (!spec.sandbox) return null;
      const state = await sandboxState(environment.PATH);
      // One that must be there and cannot is told by the process that does not start.
      if (!state.works && spec.sandbox.mode !== 'on') return null;
      const { read = [], write = [] } = spec.sandbox ?? {};
      const checkout = room ? null : await placeOf({ root: spec.projectPath, worktree: cwd });
      const shared = checkout ? await gitSandboxPaths(checkout) : roomPaths(room!);
      const place = { home, environment, worktree: spec.worktreePath, command: spec.command };
      const own = adapter?.sandboxPaths?.(place) ?? { read: [], write: [] };
      const asked = [...own.write, ...write].map((path) => madeFolder(fromHome(path, home)));
      const seen = [...GIT_SETTINGS.map((name) => join(home, name)), ...own.read.map(madeFolder)];
      return {
        empty: [home, stateDirectory, ...heldOutFolders(spec)].filter((path) => path !== '/'),
        write: [...(room?.isReadOnly ? [] : [cwd]), ...folders, ...shared.write, ...asked],
        read: [
          ...installations({ path: environment.PATH ?? '', home, programs: [process.execPath, ...programs] }),
          ...TOOLCHAINS.flatMap((name) => environment[name] ?? []).filter((path) => !holds(path, home)),
          ...PROGRAM_PARTS.map((name) => join(programDirectory, name)),
          binDirectory,
          ...read.map((path) => fromHome(path, home)),
          ...seen.filter((path) => !isFile(path)),
          ...shared.read,
        ],
        shown: shared.shown,
        copy: seen.filter(isFile),
        isolation: state.works ? state.isolation : undefined,
        ...(checkout && {
          meanwhile: () => keepBringing(checkout),
          async afterwards() {
            await bringObjects(checkout);
            await removePlantedHooks(git, cwd);
          },
        }),
      };
    },

    async gitIn({ spec, cwd = spec.worktreePath, signal }) {
      if (!spec.sandbox) return git.bind({ signal });
      const place = await placeOf({ root: spec.projectPath, worktree: cwd });
      // What a run whose Pulse was killed had written is not over here yet.
      await bringObjects(place);
      const sandbox = await sandboxes.plan({ spec, cwd });
      if (sandbox === null) return git.bind({ signal });
      const env = agentEnvironment({ base: environment, own: [], pass: spec.environmentPass, add: {} });
      const lfs = join(place.commonDir, 'lfs');
      const shown = { ...sandbox, write: [...sandbox.write, lfs] };
      return git.bind({
        signal,
        place,
        enclosure: { ...encloseGit({ sandbox: shown, env }), afterwards: () => bringObjects(place) },
      });
    },

    async gitInRoom({ spec, room, place, signal }) {
      const sandbox = await sandboxes.plan({ spec, room });
      if (sandbox === null) return git.bind({ signal, place });
      const env = agentEnvironment({ base: environment, own: [], pass: spec.environmentPass, add: {} });
      const lfs = join(dirname(room.objects[0]!), 'lfs');
      const shown = { ...sandbox, write: [...sandbox.write, place.gitDir, lfs] };
      return git.bind({ signal, place, enclosure: encloseGit({ sandbox: shown, env }) });
    },
  };
  return sandboxes;
}

/** What commands in a room see of it: not Pulse's own repository of it, nor what puts it back. */
function roomPaths({ folders, objects, isReadOnly = false }: NonNullable<SandboxRequest['room']>) {
  const { tree, tmp, cache, state, git } = folders;
  const read = [...objects, join(git, 'objects')];
  if (isReadOnly) return { write: [tmp], read: [...read, tree], shown: [] };
  return { write: [tree, tmp, cache, state], read, shown: [] };
}

/** No run and no check sees them where they lie, even below a folder that it is shown. */
function heldOutFolders({ referee, projectPath }: SandboxRequest['spec']): string[] {
  return (referee?.heldOut ?? []).map((check) => heldOutFolder(projectPath, check)).filter(existsSync);
}

const BRINGING_MS = 200;

/**
 * The worktree's HEAD is seen by git in all of the repository: what an agent commits must be there soon, or `git log --all`
 * and `git gc` of the user would fail for as long as it runs.
 */
function keepBringing(place: GitPlace): Disposable {
  let isBusy = false;
  const timer = setInterval(async () => {
    if (isBusy) return;
    isBusy = true;
    // What stands in the way now is told at the end.
    await bringObjects(place).catch(() => undefined);
    isBusy = false;
  }, BRINGING_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const GIT_SETTINGS = ['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'];
/** Folders of programs that the environment names; none of them holds anybody's login. */
const TOOLCHAINS = ['JAVA_HOME', 'RUSTUP_HOME', 'PYENV_ROOT', 'NVM_DIR', 'VOLTA_HOME', 'VIRTUAL_ENV'];
const PROGRAM_PARTS = ['bin', 'src', 'dist', 'node_modules', 'package.json'];

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
