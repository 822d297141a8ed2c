/** Work of a session that was not taken over, and how to get it back. */
import { wayBack } from '../domain/after-words.ts';
import type { Git } from '../git/exec.ts';
import { listRefs, recoveryPrefix } from '../git/refs.ts';
import type { Session } from '../store/sessions.ts';

export interface KeptWork {
  ref: string;
  /** When it was kept. */
  at: string | null;
  /** The command, in the repository, that makes a branch of it. */
  command: string;
}

/** Oldest first. The repository may be gone by now, or lie elsewhere: then there is nothing to point at. 1 git process. */
export async function keptWork(
  git: Git,
  { id, project_path: root }: Pick<Session, 'id' | 'project_path'>,
): Promise<KeptWork[]> {
  const refs = await listRefs(git, root, recoveryPrefix(id)).catch(() => []);
  return refs
    .toSorted((a, b) => (a.committedAtMs ?? 0) - (b.committedAtMs ?? 0))
    .map(({ ref, committedAtMs: atMs }) => ({
      ref,
      at: atMs === null ? null : new Date(atMs).toISOString(),
      command: wayBack(ref),
    }));
}
