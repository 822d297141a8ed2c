/** Beads from outside, all of them or none. */
import { PulseError } from '../../../domain/errors.ts';
import type { Db } from '../../../store/store.ts';
import { type Bead, BLOCKS, type Dependency, PARENT } from '../graph/bead.ts';
import { refuseAnyCycle } from '../graph/change.ts';
import { instantMs } from '../graph/instant.ts';
import { type BeadLine, listLines, replaceLines } from '../graph/lines.ts';
import {
  type BeadContent,
  findBeads,
  type ProjectLock,
  readDependencies,
  writeBeads,
} from '../graph/rows.ts';
import type { FileLine } from './issue-file.ts';
import { writeIssue } from './issue-line.ts';

export interface Imported {
  /** Ids, in the order of the file. */
  created: string[];
  updated: string[];
  unchanged: number;
  /** Lines that are no issue, and are kept. */
  kept: number;
}

/**
 * A line that is as it was last imported, or as Pulse would write it now, changes nothing. Any other one replaces the
 * bead; where the bead was changed in Pulse as well, the later change wins. A part of a transaction that holds the lock.
 */
export async function importIssues(db: Db, lock: ProjectLock, lines: readonly FileLine[]): Promise<Imported> {
  const { projectId } = lock;
  const issues = lines.flatMap(({ bead, source, number }) => (bead ? [{ bead, source, number }] : []));
  const before = await listLines(db, projectId);
  const sources = new Map(
    before.flatMap(({ bead_id, source }) => (bead_id === null ? [] : [[bead_id, source] as const])),
  );
  const known = await findBeads(
    db,
    projectId,
    issues.map(({ bead }) => bead.id).filter((id) => sources.has(id)),
  );
  const beads = new Map(known.map((bead) => [bead.id, bead]));
  const changed = issues.filter((issue) =>
    isNews(issue, beads.get(issue.bead.id), sources.get(issue.bead.id) ?? null),
  );
  if (changed.length > 0) {
    await refuseBroken(db, projectId, changed);
    await writeBeads(
      db,
      lock,
      changed.map(({ bead }) => bead),
    );
  }
  const isTaken = new Set(changed.map(({ bead }) => bead.id));
  await saveLines(db, projectId, { before, lines, isTaken });
  const ids = changed.map(({ bead }) => bead.id);
  return {
    created: ids.filter((id) => !beads.has(id)),
    updated: ids.filter((id) => beads.has(id)),
    unchanged: issues.length - ids.length,
    kept: lines.length - issues.length,
  };
}

function isNews(
  { bead, source }: { bead: BeadContent; source: string },
  known: Bead | undefined,
  before: string | null,
): boolean {
  if (!known) return true;
  if (before !== null && withoutEnd(before) === withoutEnd(source)) return false;
  const current = writeIssue(known, before === null ? null : withoutEnd(before));
  if (current === withoutEnd(source)) return false;
  const isChangedHere = before === null || current !== withoutEnd(before);
  return !isChangedHere || instantMs(bead.updated_at) >= instantMs(known.updated_at);
}

export function withoutEnd(line: string): string {
  return line.replace(/\r?\n$/, '');
}

export function endOf(line: string): string {
  return line.slice(withoutEnd(line).length);
}

/** Throws where a bead waits for one that is not there, or for itself. */
async function refuseBroken(
  db: Db,
  projectId: string,
  changed: readonly { bead: BeadContent; number: number }[],
): Promise<void> {
  const all: Map<string, readonly Dependency[]> = await readDependencies(db, projectId);
  for (const { bead } of changed) all.set(bead.id, bead.dependencies);
  for (const { bead, number } of changed) {
    const unknown = bead.dependencies.find(
      ({ id, type }) => (type === BLOCKS || type === PARENT) && !all.has(id),
    );
    if (unknown)
      throw new PulseError(
        'not_found',
        `Line ${number}: ${bead.id} names ${unknown.id.slice(0, 200)}, which is no bead.`,
        {
          hint: 'It is neither in the file nor in the store. Nothing was imported.',
        },
      );
  }
  try {
    refuseAnyCycle(all);
  } catch (error) {
    throw atLine(error, changed);
  }
}

/** A cycle is told with the line of its first member that the file has. */
function atLine(error: unknown, changed: readonly { bead: BeadContent; number: number }[]): unknown {
  const cycle = error instanceof PulseError ? (error.data.cycle as string[] | undefined) : undefined;
  const found = cycle && changed.find(({ bead }) => cycle.includes(bead.id));
  if (!found) return error;
  return new PulseError('invalid_input', `Line ${found.number}: ${(error as PulseError).message}`, {
    hint: 'Take one of these dependencies away. Nothing was imported.',
    data: { cycle, line: found.number },
  });
}

interface SaveLines {
  before: readonly BeadLine[];
  lines: readonly FileLine[];
  /** The beads whose line is now the file's. */
  isTaken: ReadonlySet<string>;
}

/** The file's lines stay together, in its order, where the first of its beads stood; a new file comes after all others. */
async function saveLines(db: Db, projectId: string, { before, lines, isTaken }: SaveLines): Promise<void> {
  const known = new Map(before.map((line) => [line.bead_id, line]));
  const placed = lines.map(({ bead, source }): BeadLine => {
    const own = bead && !isTaken.has(bead.id) ? known.get(bead.id) : undefined;
    return own ?? { bead_id: bead?.id ?? null, source };
  });
  const { from, to } = placeOf(before, placed);
  const isOther = otherThan(placed);
  const after = [
    ...before.slice(0, from).filter(({ bead_id }) => bead_id === null || isOther({ bead_id, source: null })),
    ...placed,
    ...before.slice(from, to).filter(isOther),
    ...before.slice(to),
  ];
  if (!isSameOrder(before, after)) await replaceLines(db, projectId, after);
}

/** Lines that are no issue are the same when their text is. */
function otherThan(lines: readonly BeadLine[]): (line: BeadLine) => boolean {
  const beads = new Set(lines.map(({ bead_id }) => bead_id));
  const texts = new Set(lines.filter(({ bead_id }) => bead_id === null).map(({ source }) => source));
  return ({ bead_id, source }) => (bead_id === null ? !texts.has(source) : !beads.has(bead_id));
}

/** From the first to the last line that the file has, with lines beside them that are no issue and that it has too. */
function placeOf(before: readonly BeadLine[], lines: readonly BeadLine[]): { from: number; to: number } {
  const isOther = otherThan(lines);
  const hasBeads = lines.some(({ bead_id }) => bead_id !== null);
  const isShared = (line: BeadLine): boolean => (line.bead_id !== null || !hasBeads) && !isOther(line);
  let from = before.findIndex(isShared);
  if (from < 0) return { from: before.length, to: before.length };
  let to = before.findLastIndex(isShared) + 1;
  while (from > 0 && before[from - 1]!.bead_id === null && !isOther(before[from - 1]!)) from--;
  while (to < before.length && before[to]!.bead_id === null && !isOther(before[to]!)) to++;
  return { from, to };
}

function isSameOrder(one: readonly BeadLine[], other: readonly BeadLine[]): boolean {
  return (
    one.length === other.length &&
    one.every(
      ({ bead_id, source }, index) => bead_id === other[index]!.bead_id && source === other[index]!.source,
    )
  );
}
