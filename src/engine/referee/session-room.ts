/** The clean room of a session, seen from the sandbox that its commands and its git run in. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findRegistration, readCommonDir, readGitDir, realPathOf } from '../../git/git-dir.ts';
import { openRoom, type Room } from '../../referee/room/room.ts';
import { roomFolders } from '../../referee/room/room-git.ts';
import type { SandboxRequest } from '../run/run-sandbox.ts';
import type { WorkspaceMeans } from '../workspace/means.ts';

export interface SessionRoom {
  room: Room;
  /** What a process in the room sees of it. */
  shown: NonNullable<SandboxRequest['room']>;
}

export async function openSessionRoom(
  { git, sandboxes }: Pick<WorkspaceMeans, 'git' | 'sandboxes'>,
  {
    path,
    spec,
    setup,
    signal,
  }: { path: string; spec: SandboxRequest['spec']; setup: readonly string[] | null; signal?: AbortSignal },
): Promise<SessionRoom> {
  const folders = roomFolders(path);
  const commonDir = await realPathOf(await readCommonDir(await readGitDir(spec.projectPath)));
  const worktreeDir = await findRegistration(commonDir, spec.worktreePath);
  const copies = [worktreeDir, commonDir].filter((dir) => dir !== null);
  const modules = copies.map((dir) => join(dir, 'modules')).filter((dir) => existsSync(dir));
  const shown = { folders, objects: [join(commonDir, 'objects'), ...modules] };
  const room = openRoom({
    localFiles: spec.needs?.copy,
    path,
    root: spec.projectPath,
    git,
    inside: (place) => sandboxes.gitInRoom({ spec, room: shown, place, signal }),
    submodules: copies,
    setup,
  });
  return { room, shown };
}
