/** A transcript of another agent, line by line: which lines are turns, and which turn stands above each. */
import { createHash } from 'node:crypto';
import type { TranscriptEntry } from '../../store/turn-parents.ts';

export interface ImportedTurn {
  id: string;
  parentId: string | null;
  /** The entry that it stands below, where the file does not have that. */
  namedParentId: string | null;
  depth: number;
  role: 'user' | 'assistant';
  /** As it stands in the file. */
  content: string;
  createdAt: string;
}

export type LineResult = { turn: ImportedTurn } | { entry: TranscriptEntry } | { skip: string } | null;

/** Given the lines of one file in order, as values. */
export interface TranscriptReader {
  read(entry: Record<string, unknown>, line: number): LineResult;
}

/** What later lines need to know of a turn. */
export interface Ancestor {
  id: string;
  depth: number;
}

export function below(parent: Ancestor | null): Pick<ImportedTurn, 'parentId' | 'depth'> {
  return { parentId: parent?.id ?? null, depth: parent ? parent.depth + 1 : 0 };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** The same for the same words, in every store. */
export function derivedUuid(words: string): string {
  const bytes = createHash('sha256').update(words, 'utf8').digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The time that an entry names, in the form that sorts; without one, the time of the entry before. */
export function createTimes(): (value: unknown) => string {
  let last = new Date(0).toISOString();
  return (value) => {
    const time = typeof value === 'string' || typeof value === 'number' ? new Date(value) : null;
    const year = time?.getUTCFullYear() ?? Number.NaN;
    if (time && year >= 1970 && year <= 9999) last = time.toISOString();
    return last;
  };
}

/** Of text, or of parts of which some are text. */
export function textOfContent(content: unknown, isText: (part: Record<string, unknown>) => boolean): string {
  if (typeof content === 'string') return content.trim();
  if (!Array.isArray(content)) return '';
  const texts = content.flatMap((part: unknown) =>
    isRecord(part) && isText(part) && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.join('\n').trim();
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
