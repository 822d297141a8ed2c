/**
 * The files that a worker must have read before it begins, as its brief quotes them. What is absent is said; nothing is
 * made up. Agents and authors of repositories write these files: only ordinary ones of the repository are read.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isPulseError } from '../../../domain/errors.ts';
import { readRegularFile, readWithin } from '../../../files/regular-file.ts';
import type { Git } from '../../../git/exec.ts';
import { type CommittedFile, readCommittedFiles } from './committed-files.ts';
import { decisionIdsIn, parseDecisions } from './decisions.ts';
import { AGENTS_FILE, contextFile, handoffFile, STATE_FILE } from './places.ts';

export interface BriefFile {
  /** As the repository names it. */
  path: string;
  /** `null`: it is absent, or cannot be read. */
  content: string | null;
  /** Why it cannot be read, or that this is a part of it. */
  note: string | null;
}

export interface QuotedDecision {
  id: string;
  text: string;
}

export interface BriefFiles {
  agents: BriefFile;
  state: BriefFile;
  context: BriefFile;
  /** `null`: this worker has no name by which it could have left one. */
  handoff: BriefFile | null;
  decisions: QuotedDecision[];
  /** Named by the bead, and not in CONTEXT.md: such a bead goes back to planning. */
  unknownDecisions: string[];
  /** Exactly those that the bead names, in its order. */
  learnings: BriefFile[];
  /** Those of them that have no content. */
  missingLearnings: string[];
}

export interface BriefFilesQuery {
  /** Where the agent works. Read only without `commit`: it may not be there yet, or stand at another commit. */
  worktree: string;
  /** The one that the agent will begin from: what is committed is read from it. */
  commit?: { git: Git; id: string } | null;
  /** The user's checkout: `.pulse` lies there, and `history` where it is not committed. */
  root: string;
  feature: string;
  learningRefs: readonly string[];
  decisionRefs: readonly string[];
  /** The bead's. */
  body: string;
  /** Whose handoff may be there, such as `worker-BlueFox` or `single-worker`. One that was consumed is absent. */
  ownerId?: string | null;
}

/** A file that is longer is not read at all. */
const MOST_BYTES = 1024 * 1024;
const TOO_LARGE = `it is too large: more than ${MOST_BYTES / 1024} KiB`;
const NOT_REGULAR = 'it is no ordinary file of the repository';
/** How much of each stands in a brief, in characters. */
const ROOM = {
  agents: 32_000,
  state: 8_000,
  context: 32_000,
  handoff: 16_000,
  learning: 16_000,
  decision: 8_000,
};

/** Throws `path_outside` for a feature or an owner that cannot be the name of a file. */
export async function readBriefFiles(query: BriefFilesQuery): Promise<BriefFiles> {
  const { root, feature, ownerId = null } = query;
  const contextPath = contextFile(feature);
  const tracked = await readTracked(query, [AGENTS_FILE, contextPath, ...query.learningRefs]);
  const context = tracked.get(contextPath)!;
  const learnings = [...new Set(query.learningRefs)].map((path) =>
    shorten(tracked.get(path)!, ROOM.learning),
  );
  const quoted = quoteDecisions(query, context.content ?? '');
  return {
    agents: shorten(tracked.get(AGENTS_FILE)!, ROOM.agents),
    state: shortenStart(await readOwn(root, STATE_FILE), ROOM.state),
    context: shorten(context, ROOM.context),
    handoff: ownerId === null ? null : shorten(await readHandoffText(root, ownerId), ROOM.handoff),
    ...quoted,
    learnings,
    missingLearnings: learnings.filter(({ content }) => content === null).map(({ path }) => path),
  };
}

function quoteDecisions(
  { decisionRefs, body }: BriefFilesQuery,
  context: string,
): Pick<BriefFiles, 'decisions' | 'unknownDecisions'> {
  const known = parseDecisions(context);
  const named = decisionIdsIn([...decisionRefs, body].join('\n'));
  return {
    decisions: named.flatMap((id) => {
      const text = known.get(id);
      return text === undefined ? [] : [{ id, text: cut(text, ROOM.decision) }];
    }),
    unknownDecisions: named.filter((id) => !known.has(id)),
  };
}

/** The decisions that a bead names and CONTEXT.md does not have. */
export async function readUnknownDecisions(query: BriefFilesQuery): Promise<string[]> {
  if (decisionIdsIn([...query.decisionRefs, query.body].join('\n')).length === 0) return [];
  const path = contextFile(query.feature);
  const files = await readTracked(query, [path]);
  return quoteDecisions(query, files.get(path)!.content ?? '').unknownDecisions;
}

const LIMIT = { maxBytes: MOST_BYTES };

/**
 * Files of the repository: links within it are followed. Some keep `history` out of git, so it is looked for in the
 * checkout too; there lie secrets as well, so nothing else is, and no link is followed.
 */
async function readTracked(
  query: BriefFilesQuery,
  paths: readonly string[],
): Promise<Map<string, BriefFile>> {
  const { root, worktree, commit = null } = query;
  const committed = commit && (await readCommitted(commit, root, paths));
  const files = new Map<string, BriefFile>();
  for (const path of new Set(paths)) {
    const file =
      committed?.get(path) ?? (await read(path, (real) => readWithin(worktree, real, LIMIT), worktree));
    const isOfHistory = path.startsWith('history/') && !path.split('/').includes('..');
    const isThere = file.content !== null || file.note !== null;
    files.set(path, isThere || !isOfHistory ? file : await readOwn(root, path));
  }
  return files;
}

async function readCommitted(
  { git, id }: NonNullable<BriefFilesQuery['commit']>,
  cwd: string,
  paths: readonly string[],
): Promise<Map<string, BriefFile>> {
  const found = await readCommittedFiles({ git, cwd, commit: id, maxBytes: MOST_BYTES }, paths);
  return new Map([...found].map(([path, file]) => [path, briefFileOf(path, file)]));
}

function briefFileOf(path: string, file: CommittedFile): BriefFile {
  if (file.content !== null) return { path, content: textOf(file.content), note: null };
  const note = { absent: null, too_large: TOO_LARGE, not_regular: NOT_REGULAR }[file.reason];
  return { path, content: null, note };
}

async function readOwn(root: string, path: string): Promise<BriefFile> {
  const folder = await realpath(root);
  return await read(path, (real) => readRegularFile(real, { ...LIMIT, isExact: true }), folder);
}

async function readHandoffText(root: string, ownerId: string): Promise<BriefFile> {
  const file = await readOwn(root, handoffFile(ownerId));
  return isOver(file.content) ? { ...file, content: null } : file;
}

/** Whether a handoff was taken up already. */
function isOver(content: string | null): boolean {
  try {
    return (JSON.parse(content ?? 'null') as { status?: unknown } | null)?.status !== 'ready_to_resume';
  } catch {
    // A person may have written it: the agent sees it as it is.
    return false;
  }
}

async function read(
  path: string,
  reader: (real: string) => Promise<Buffer>,
  folder: string,
): Promise<BriefFile> {
  try {
    return { path, content: textOf(await reader(join(folder, path))), note: null };
  } catch (error) {
    return { path, content: null, note: refusalOf(error as NodeJS.ErrnoException) };
  }
}

/** `null`: there is nothing. */
function refusalOf(error: NodeJS.ErrnoException): string | null {
  if (isPulseError(error, 'unsafe_file')) return error.data.reason === 'too_large' ? TOO_LARGE : NOT_REGULAR;
  if (error.code === undefined) throw error;
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  return `it cannot be read (${error.code})`;
}

function textOf(content: Buffer): string {
  return content.toString('utf8').replaceAll('\0', '');
}

function shorten(file: BriefFile, room: number): BriefFile {
  if (file.content === null || file.content.length <= room) return file;
  return { ...file, content: cut(file.content, room), note: `only its first ${room} characters are here` };
}

/** For a file that grows at its end. */
function shortenStart(file: BriefFile, room: number): BriefFile {
  if (file.content === null || file.content.length <= room) return file;
  const content = `[cut …]\n${file.content.slice(-room).toWellFormed()}`;
  return { ...file, content, note: `only its last ${room} characters are here` };
}

function cut(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room).toWellFormed()}\n[… cut]`;
}
