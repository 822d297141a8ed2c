/**
 * Exact replacement, on bytes: the rest stays as it is, in any encoding, with its line ends and its byte
 * order mark. Nothing fuzzy: text that is not there, or is there twice, is a failed edit.
 */
import { ToolRefusal } from './refusal.ts';

/** So that no edit holds up Pulse for longer than a blink. */
const MAX_PLACES = 100_000;

export interface Edit {
  oldString: string;
  newString: string;
  replaceAll?: boolean;
}

/** All edits, each on what the one before it left, or none: throws `ToolRefusal`. */
export function applyEdits(content: Buffer, edits: readonly Edit[], maxBytes: number): Buffer {
  return edits.reduce((before, edit, index) => {
    const place = edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}: `;
    return applyEdit(before, { edit, place, maxBytes });
  }, content);
}

/** A file whose lines all end in CRLF is shown with plain line breaks, so it is searched for and given CRLF. */
export function withLineEndsOf(content: Buffer, text: string): string {
  return lineEndsOf(content) === 'crlf' ? text.replace(/\r?\n/g, '\r\n') : text;
}

export type LineEnds = 'lf' | 'crlf' | 'mixed' | 'none';

export function lineEndsOf(content: Buffer): LineEnds {
  let [crlf, lf] = [0, 0];
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) {
    if (content[at - 1] === 13) crlf++;
    else lf++;
    if (crlf > 0 && lf > 0) return 'mixed';
  }
  if (crlf > 0) return 'crlf';
  return lf > 0 ? 'lf' : 'none';
}

interface PlacedEdit {
  edit: Edit;
  place: string;
  maxBytes: number;
}

function applyEdit(content: Buffer, { edit, place, maxBytes }: PlacedEdit): Buffer {
  const { oldString, newString, replaceAll = false } = edit;
  if (oldString === '') throw new ToolRefusal(`${place}oldString is empty: say what is to be replaced.`);
  if (oldString === newString) throw new ToolRefusal(`${place}oldString and newString are the same.`);
  if (!oldString.isWellFormed() || !newString.isWellFormed()) {
    throw new ToolRefusal(`${place}half a character (a lone surrogate) cannot be searched for or written.`);
  }
  const wanted = Buffer.from(withLineEndsOf(content, oldString));
  const replacement = Buffer.from(withLineEndsOf(content, newString));
  const { count, first } = countMatches(content, wanted);
  if (count > MAX_PLACES) {
    throw new ToolRefusal(`${place}oldString is in more than ${MAX_PLACES} places. Use shell for that many.`);
  }
  if (count === 0) {
    throw new ToolRefusal(
      `${place}oldString is not in the file. It must match exactly, white space included.`,
    );
  }
  if (!replaceAll && isFoundTwice(content, wanted, first)) {
    throw new ToolRefusal(
      `${place}oldString is in the file more than once. Add the text around it, or set replaceAll.`,
    );
  }
  const size = content.length + count * (replacement.length - wanted.length);
  if (size > maxBytes)
    throw new ToolRefusal(`${place}the file would grow to ${size} bytes; it may have ${maxBytes}.`);
  return replaceMatches(content, { wanted, replacement, size });
}

function countMatches(content: Buffer, wanted: Buffer): { count: number; first: number } {
  const first = content.indexOf(wanted);
  let count = 0;
  for (let at = first; at >= 0 && count <= MAX_PLACES; at = content.indexOf(wanted, at + wanted.length))
    count++;
  return { count, first };
}

/** Matches that overlap are two places as well: `aa` in `aaa`. */
function isFoundTwice(content: Buffer, wanted: Buffer, first: number): boolean {
  return content.indexOf(wanted, first + 1) >= 0;
}

function replaceMatches(
  content: Buffer,
  { wanted, replacement, size }: { wanted: Buffer; replacement: Buffer; size: number },
): Buffer {
  const result = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, from)) {
    to += content.copy(result, to, from, at);
    to += replacement.copy(result, to);
    from = at + wanted.length;
  }
  content.copy(result, to, from);
  return result;
}
