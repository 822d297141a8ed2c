/** What a session of any loop has changed, file by file. */
import { PulseError } from '../../domain/errors.ts';
import { type DiffFile, filePatch, filePatches, listDiffFiles, type Patch } from '../../git/file-diffs.ts';
import { headRef } from '../../git/session-head.ts';
import { findIteration } from '../../store/iterations.ts';
import { getSession, type Session } from '../../store/sessions.ts';
import type { Operations } from '../context.ts';

export interface ShownFile extends DiffFile {
  /** `null`: left out. */
  patch: string | null;
  isTruncated: boolean;
}

export interface SessionDiff {
  from: string;
  to: string;
  files: ShownFile[];
  added: number;
  removed: number;
  /** Files or patches are left out. */
  isTruncated: boolean;
}

export interface DiffQuery {
  iteration?: number;
  from?: string;
  to?: string;
  path?: string;
  stat?: boolean;
}

const MOST_FILES = 3_000;
const ONE_PATCH_BYTES = 200 * 1024;
const ALL_PATCH_BYTES = 2 * 1024 * 1024;
/** So many files are asked for in one process. */
const FILES_TOGETHER = 100;

/** Throws `not_found` where there is no such iteration, or nothing of it in git. */
export async function diffSession(
  operations: Operations,
  id: string,
  query: DiffQuery,
): Promise<SessionDiff> {
  const session = await operations.engine.store.read((db) => getSession(db, id));
  return diffRange(operations, session, { ...(await rangeOf(operations, session, query)), ...shown(query) });
}

function shown({ path, stat }: DiffQuery): Pick<DiffQuery, 'path' | 'stat'> {
  return { path, stat };
}

async function rangeOf(
  { engine: { store } }: Operations,
  session: Session,
  { iteration: number, from, to }: DiffQuery,
): Promise<{ from: string; to: string }> {
  if (number !== undefined) {
    const iteration = await store.read((db) => findIteration(db, session.id, number));
    if (!iteration)
      throw new PulseError('not_found', `Session ${session.id} has no iteration ${number}.`, {
        hint: `It is at iteration ${session.current_iteration}.`,
      });
    // One that committed nothing changed nothing.
    return { from: iteration.start_sha, to: iteration.commit_hash ?? iteration.start_sha };
  }
  const { id, base_sha, branch_name, branch_lags_at, total_commits } = session;
  const head = branch_lags_at === null ? `refs/heads/${branch_name}` : headRef(id);
  // Its branch is made with its first commit.
  return { from: from ?? base_sha, to: to ?? (total_commits === 0 ? base_sha : head) };
}

export interface RangeQuery {
  from: string;
  to: string;
  path?: string;
  stat?: boolean;
}

export async function diffRange(
  { git, redactor }: Operations,
  { project_path: root }: Session,
  { path, stat, ...names }: RangeQuery,
): Promise<SessionDiff> {
  const from = await resolveCommit(git, root, names.from);
  const to = await resolveCommit(git, root, names.to);
  const range = { root, from, to };
  const all = from === to ? [] : await listDiffFiles(git, range);
  const asked = path === undefined ? all : all.filter((file) => file.path === path);
  if (path !== undefined && asked.length === 0)
    throw new PulseError('not_found', `${path} is not among the changed files.`, {
      hint: 'Paths are written as the list without `path` has them.',
    });
  const files = asked.slice(0, MOST_FILES);
  const shownFiles: ShownFile[] = stat
    ? files.map((file) => ({ ...file, patch: null, isTruncated: false }))
    : path === undefined
      ? await withPatches(git, range, files)
      : [await withWholePatch(git, range, files[0]!)];
  const sum = (key: 'added' | 'removed') => asked.reduce((total, file) => total + (file[key] ?? 0), 0);
  const isTruncated = asked.length > files.length || shownFiles.some((file) => file.isTruncated);
  return redactor.redactJson({
    ...{ from, to, files: shownFiles, added: sum('added'), removed: sum('removed'), isTruncated },
  });
}

/** Only of the repository's own commits: a name that git could read as something else is not one. */
async function resolveCommit(git: Operations['git'], root: string, name: string): Promise<string> {
  const found = await git.attempt(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
    {
      cwd: root,
    },
  );
  if (found.code === 0) return found.stdout.toString().trim();
  throw new PulseError('not_found', `${name} is not in the repository.`, {
    hint: 'A branch that was deleted takes its commits with it.',
  });
}

type Range = { root: string; from: string; to: string };

async function withWholePatch(git: Operations['git'], range: Range, file: DiffFile): Promise<ShownFile> {
  if (file.isBinary) return { ...file, patch: null, isTruncated: false };
  const { text, isTruncated } = await filePatch(git, range, { path: file.path, maxBytes: ALL_PATCH_BYTES });
  return { ...file, patch: text, isTruncated };
}

/** Until there is enough; of the others only the names. */
async function withPatches(
  git: Operations['git'],
  range: Range,
  files: readonly DiffFile[],
): Promise<ShownFile[]> {
  const shownFiles: ShownFile[] = [];
  let left = ALL_PATCH_BYTES;
  for (let at = 0; at < files.length; at += FILES_TOGETHER) {
    const some = files.slice(at, at + FILES_TOGETHER);
    const paths = some.filter((file) => left > 0 && isOneWithOthers(file)).map(({ path }) => path);
    const patches = await filePatches(git, range, { paths, maxBytes: ONE_PATCH_BYTES });
    for (const file of some) {
      const patch = patches.get(file.path) ?? (left > 0 ? await alone(git, range, file) : undefined);
      const fits = patch !== undefined && !patch.isTruncated && patch.text.length <= left;
      if (fits) left -= patch.text.length;
      shownFiles.push({ ...file, patch: fits ? patch.text : null, isTruncated: !fits && !file.isBinary });
    }
  }
  return shownFiles;
}

/** A link that became a file has two patches, and a path that is no text cannot be asked for by name. */
function isOneWithOthers({ isBinary, status, path }: DiffFile): boolean {
  return !isBinary && status !== 'type_changed' && !path.startsWith('"');
}

async function alone(git: Operations['git'], range: Range, file: DiffFile): Promise<Patch | undefined> {
  if (file.status !== 'type_changed' || file.isBinary) return undefined;
  return filePatch(git, range, { path: file.path, maxBytes: ONE_PATCH_BYTES });
}
