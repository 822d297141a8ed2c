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
  const parts = [subjectLine(subject), bodyText(body), block.join('\n')].filter((part) => part !== '');
  return `${parts.join('\n\n')}\n`;
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
