/** The message of a commit that Pulse makes: one line, a body, and trailers that git itself can read. */
import { PulseError } from '../domain/errors.ts';

export interface CommitMessage {
  subject: string;
  body?: string;
  trailers: Record<string, string>;
}

/** Any text is made to fit; only a trailer's name can be wrong (`invalid_input`). */
export function formatMessage({ subject, body = '', trailers }: CommitMessage): string {
  const block = Object.entries(trailers).map(([name, value]) => {
    if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(name)) {
      throw new PulseError('invalid_input', `"${name}" is no name for a trailer`);
    }
    return `${name}: ${oneLine(value)}`;
  });
  const text = bodyText(body);
  const end =
    endsInTrailers(text) && block.length > 0 ? [`${text}\n${block.join('\n')}`] : [text, block.join('\n')];
  return `${[subjectLine(subject), ...end].filter((part) => part !== '').join('\n\n')}\n`;
}

/** One line of at most 100 characters, never empty. */
export function subjectLine(text: string): string {
  const line = [...oneLine(text).replace(/^(-{3,}|#+)\s*/, '')];
  if (line.length === 0) return 'pulse: work without a summary';
  return line.length <= SUBJECT_LENGTH
    ? line.join('')
    : `${line
        .slice(0, SUBJECT_LENGTH - 1)
        .join('')
        .trimEnd()}…`;
}

/**
 * Trailers that somebody else gave (a commit-msg hook's `Change-Id`) are trailers only in the last paragraph: ours join
 * them there. One that looks like ours is left out of it, so that it is not taken for ours.
 */
function endsInTrailers(body: string): boolean {
  const last = body.split(/\n\s*\n/).at(-1) ?? '';
  const lines = last.split('\n');
  return lines.every((line) => /^(?!Pulse-)[A-Za-z][A-Za-z0-9-]*: \S/.test(line));
}

const SUBJECT_LENGTH = 100;

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

/** A line that begins with `---` ends the message for interpret-trailers: it is indented. */
function bodyText(text: string): string {
  const lines = text.toWellFormed().replace(/\r\n?/g, '\n').replaceAll('\0', '');
  return lines.replace(/^---/gm, ' ---').replace(/^\s*\n|\s+$/g, '');
}
