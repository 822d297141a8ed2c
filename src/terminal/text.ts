/** Text that others wrote, made safe and short enough for a terminal. */
import { withoutControls, withoutSequences } from '../domain/control-characters.ts';
import { redact } from '../domain/redact.ts';

/** Nothing in it can move the cursor, colour the screen or show a secret. Line breaks and tabs stay. */
export function sanitizeForTerminal(text: string): string {
  return redact(withoutControls(withoutSequences(text).replaceAll('\r\n', '\n')));
}

/** As `sanitizeForTerminal`, on one line. */
export function sanitizeLine(text: string): string {
  return sanitizeForTerminal(text).replace(/\s+/g, ' ').trim();
}

/** Cut to so many columns, with an ellipsis. Only for text without escape sequences. */
export function shorten(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (displayWidth(text) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    width += displayWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

const segmenter = new Intl.Segmenter();
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\ufe0f/u;
const ASCII = /^[\x20-\x7e]*$/;

/** Columns on a terminal; escape sequences count nothing. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(withoutSequences(text))) {
    if (/^[\p{M}\p{Cf}\p{Cc}]+$/u.test(segment)) continue;
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}

export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

/** Broken between words into at most so many lines; the last is cut where more would come. */
export function wrap(text: string, columns: number, maxLines: number): string[] {
  const lines: string[] = [];
  let line = '';
  const words = text.split(' ');
  for (const [index, word] of words.entries()) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= columns || line === '') {
      line = longer;
      continue;
    }
    if (lines.length === maxLines - 1) {
      line = `${line} ${words.slice(index).join(' ')}`;
      break;
    }
    lines.push(shorten(line, columns));
    line = word;
  }
  return [...lines, shorten(line, columns)];
}
