/** A whole issue file: one JSON value a line, most of them issues. */
import { asPulseError, PulseError } from '../../../domain/errors.ts';
import type { BeadContent } from '../graph/rows.ts';
import { isIssue, readIssue } from './issue-line.ts';

export interface FileLine {
  /** From 1. */
  number: number;
  /** With its end. */
  source: string;
  /** `null`: it is no issue. */
  bead: BeadContent | null;
}

const MOST_TOLD = 20;

/** Throws `invalid_input` that names every line that cannot be read. `now` stands in for times that are not told. */
export function readIssueFile(text: string, now: string): FileLine[] {
  const faults: string[] = [];
  const lines: FileLine[] = [];
  const numbers = new Map<string, number>();
  for (const [index, source] of splitLines(text).entries()) {
    const number = index + 1;
    try {
      const bead = readLine(source, now);
      const first = bead && numbers.get(bead.id);
      if (first) throw new PulseError('invalid_input', `${bead.id} is in line ${first} already`);
      if (bead) numbers.set(bead.id, number);
      lines.push({ number, source, bead });
    } catch (error) {
      faults.push(`line ${number}: ${asPulseError(error).message.replace(/\.$/, '')}`);
    }
  }
  if (faults.length === 0) return lines;
  const more = faults.length > MOST_TOLD ? [`… and ${faults.length - MOST_TOLD} more`] : [];
  throw new PulseError('invalid_input', `The issue file is broken: ${faults[0]}.`, {
    hint: [...faults.slice(0, MOST_TOLD), ...more, 'Nothing was imported.'].join('\n'),
    data: { violations: faults.slice(0, 1_000) },
  });
}

/** The bytes of a file as text, which gives the same bytes back. Throws `invalid_input`. */
export function decodeFile(content: Uint8Array): string {
  try {
    // A byte order mark is a part of the first line.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new PulseError('invalid_input', 'The file is no UTF-8 text.', {
      hint: 'Nothing was imported.',
      cause,
    });
  }
}

/** Each with what ends it. Put together they are the text. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function readLine(source: string, now: string): BeadContent | null {
  const text = source.replace(/^\uFEFF/, '').trim();
  if (text === '') return null;
  const value = parse(text);
  return isIssue(value) ? readIssue(value, now) : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PulseError('invalid_input', `it is no JSON: ${(cause as Error).message}`, { cause });
  }
}
