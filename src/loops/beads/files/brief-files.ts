/**
 * The files that a worker must have read before it begins, as its brief quotes them. What is absent is said; nothing is
 * made up. Agents and authors of repositories write these files: only ordinary ones of the repository are read.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isPulseError } from '../../../domain/errors.ts';
import { readRegularFile, readWithin } from '../../../files/regular-file.ts';
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
  /** Where the agent will work: what is committed is read here. */
  worktree: string;
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
  const { worktree, root, feature, ownerId = null } = query;
  const context = await readTracked(query, contextFile(feature));
  const learnings: BriefFile[] = [];
  for (const path of new Set(query.learningRefs))
    learnings.push(shorten(await readTracked(query, path), ROOM.learning));
  const quoted = quoteDecisions(query, context.content ?? '');
  return {
    agents: shorten(
      await read(AGENTS_FILE, (path) => readWithin(worktree, path, LIMIT), worktree),
      ROOM.agents,
    ),
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

const LIMIT = { maxBytes: MOST_BYTES };

/**
 * A file of the repository: links within the worktree are followed. Some keep `history` out of git, so it is looked for
 * in the checkout too; there lie secrets as well, so nothing else is, and no link is followed.
 */
async function readTracked({ worktree, root }: BriefFilesQuery, path: string): Promise<BriefFile> {
  const file = await read(path, (real) => readWithin(worktree, real, LIMIT), worktree);
  const isOfHistory = path.startsWith('history/') && !path.split('/').includes('..');
  return file.content !== null || file.note !== null || !isOfHistory ? file : await readOwn(root, path);
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
    const content = (await reader(join(folder, path))).toString('utf8').replaceAll('\0', '');
    return { path, content, note: null };
  } catch (error) {
    return { path, content: null, note: refusalOf(error as NodeJS.ErrnoException) };
  }
}

/** `null`: there is nothing. */
function refusalOf(error: NodeJS.ErrnoException): string | null {
  if (isPulseError(error, 'unsafe_file'))
    return error.data.reason === 'too_large'
      ? `it is too large: more than ${MOST_BYTES / 1024} KiB`
      : 'it is no ordinary file of the repository';
  if (error.code === undefined) throw error;
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  return `it cannot be read (${error.code})`;
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
