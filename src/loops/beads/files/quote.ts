/** Texts of others inside Markdown that Pulse writes: they stay data, and cannot change its structure. */
import { withoutControls, withoutSequences } from '../../../domain/control-characters.ts';

const MOST_INLINE = 2_000;

/** On one line, as code, in more backticks than any that stand inside. */
export function inlineCode(text: string): string {
  const line = oneLine(text);
  if (line === '') return '(empty)';
  let longest = 0;
  for (const [run] of line.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  const edge = longest > 0 ? ' ' : '';
  return `${fence}${edge}${line}${edge}${fence}`;
}

/** White space of any kind is one blank; what a terminal would act on is left out. */
export function oneLine(text: string, most = MOST_INLINE): string {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}

/** Without colours, other sequences and control characters. */
export function plain(text: string): string {
  return withoutControls(withoutSequences(text.replaceAll(/\r\n?/g, '\n'))).toWellFormed();
}

/** The end of a text: in an output the cause of a failure stands last. */
export function tail(text: string, room: number): string {
  return text.length <= room ? text : `[cut …]\n${text.slice(-room).toWellFormed()}`;
}
