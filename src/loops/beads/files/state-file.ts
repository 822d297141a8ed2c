/** `.pulse/STATE.md`: what was done, a line a bead, for people and for the next worker. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type Folder, makeFolder } from '../../../files/folder.ts';
import { refused } from '../../../files/regular-file.ts';
import { STATE_FILE } from './places.ts';
import { oneLine } from './quote.ts';

const { O_RDWR, O_CREAT, O_APPEND, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
const HEAD = '# State\n\nThe beads that are done in this repository, one line each, newest last.\n\n';
/** A line that is repeated after a crash is near the end. */
const LOOKED_AT = 256 * 1024;

export interface CompletedBead {
  beadId: string;
  summary: string;
  commit: string;
  /** ISO 8601. */
  at: string;
}

/**
 * Adds the line of a bead, by one write: a reader sees all of it or nothing, and lines of others stay. May be called
 * again for the same bead and commit: then nothing is written. False in that case. Throws `unsafe_file` where a link or
 * no ordinary file is in the way.
 */
export async function appendCompleted(root: string, completed: CompletedBead): Promise<boolean> {
  await createState(root);
  await using folder = await makeFolder(root, ['.pulse']);
  await using file = await openState(folder, O_RDWR | O_APPEND);
  const end = await readEnd(file);
  const [start, stop] = edges(completed);
  const isThere = end.split('\n').some((line) => line.includes(start) && line.endsWith(stop));
  if (isThere) return false;
  const gap = end === '' || end.endsWith('\n') ? '' : '\n';
  const line = `- ${oneLine(completed.at)}${start}${oneLine(completed.summary)}${stop}\n`;
  await file.appendFile(gap + line);
  return true;
}

/** False where one is there already, of any content. */
export async function createState(root: string): Promise<boolean> {
  await using folder = await makeFolder(root, ['.pulse']);
  try {
    // Appended too: another may have added a line since this opened it.
    await using file = await openState(folder, O_RDWR | O_CREAT | O_EXCL | O_APPEND);
    await file.appendFile(HEAD);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** What stands before and after the summary: it tells one bead's commit from all others. */
function edges({ beadId, commit }: CompletedBead): [string, string] {
  return [` ${oneLine(beadId)} completed: `, ` (commit ${oneLine(commit)})`];
}

async function openState(folder: Folder, flags: number): Promise<FileHandle> {
  const file = await open(folder.at('STATE.md'), flags | O_NOFOLLOW | O_NONBLOCK, 0o666).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ELOOP' || error.code === 'EISDIR') throw refused('not_regular', STATE_FILE);
      throw error;
    },
  );
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw refused('not_regular', STATE_FILE);
}

async function readEnd(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  const length = Math.min(size, LOOKED_AT);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString('utf8', 0, bytesRead);
}
