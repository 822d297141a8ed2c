/** The lines of a file that somebody else writes, one at a time, within bounds. */
import type { FileHandle } from 'node:fs/promises';
import { PulseError } from '../../domain/errors.ts';
import { openRegularFile, refused } from '../../files/regular-file.ts';

const MOST_BYTES = 2 * 1024 ** 3;
const MOST_IN_LINE = 32 * 1024 ** 2;
/** A reader remembers something of every line. */
const MOST_LINES = 1_000_000;
const LINE_BREAK = 0x0a;
const PORTION = 256 * 1024;

export type TranscriptLine = { line: number; value: unknown } | { line: number; skip: string };

/** Opened without following a link. Throws `unsafe_file`, or `usage` where nothing can be read. */
export async function openTranscript(path: string): Promise<FileHandle> {
  const file = await openRegularFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new PulseError('usage', `${path} cannot be read: ${reasonOf(cause)}.`, {
      hint: 'Name a transcript (JSONL) of Claude Code or Codex, or a folder with some.',
      cause,
    });
  });
  const { size } = await file.stat();
  if (size <= MOST_BYTES) return file;
  await file.close();
  throw refused('too_large', path, { size, maxBytes: MOST_BYTES });
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'it is not there';
  if (code === 'ELOOP') return 'it is a link';
  return code === 'unsafe_file' ? 'it is no ordinary file' : (code ?? message);
}

/** JSON values; a line that is none is told. Empty lines are left out. */
export async function* transcriptLines(file: FileHandle): AsyncGenerator<TranscriptLine> {
  let line = 0;
  for await (const bytes of linesOf(file)) {
    line++;
    if (line > MOST_LINES) {
      yield { line, skip: 'there are too many lines: the rest is left out' };
      return;
    }
    if (bytes === null) yield { line, skip: 'the line is too long' };
    else {
      const text = bytes.toString('utf8').trim();
      if (text !== '') yield readLine(text, line);
    }
  }
}

function readLine(text: string, line: number): TranscriptLine {
  try {
    return { line, value: JSON.parse(text) };
  } catch {
    return { line, skip: 'the line is torn: it is no JSON' };
  }
}

/** `null` for a line that is longer than may be. */
async function* linesOf(file: FileHandle): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = [];
  let length = 0;
  const end = (): Buffer | null => {
    const whole = length > MOST_IN_LINE ? null : Buffer.concat(parts);
    parts = [];
    length = 0;
    return whole;
  };
  const add = (part: Buffer): void => {
    length += part.length;
    if (length <= MOST_IN_LINE) parts.push(Buffer.from(part));
    else parts = [];
  };
  const portion = Buffer.allocUnsafe(PORTION);
  let position = 0;
  while (position < MOST_BYTES) {
    const { bytesRead } = await file.read(portion, 0, PORTION, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    let from = 0;
    for (let at = portion.indexOf(LINE_BREAK); at !== -1 && at < bytesRead; ) {
      add(portion.subarray(from, at));
      yield end();
      from = at + 1;
      at = portion.indexOf(LINE_BREAK, from);
    }
    if (from < bytesRead) add(portion.subarray(from, bytesRead));
  }
  if (length > 0) yield end();
}
