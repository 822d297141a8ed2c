/** A few lines at the bottom of the terminal that are drawn again in place; everything else scrolls above them. */

import { displayWidth } from '../../terminal/text.ts';
import type { Side } from '../output.ts';

export interface LiveRegion {
  /**
   * Replaces the region, below lines that stay above it. Its lines must not be wider than the terminal. Only those that
   * changed are written: nothing flickers, and what stays as it is costs nothing.
   */
  draw(lines: readonly string[], above?: readonly string[]): void;
  /** Removes the region and shows the cursor. May be called twice. */
  close(): void;
}

export function createLiveRegion({ stream, columns }: Pick<Side, 'stream' | 'columns'>): LiveRegion {
  let drawn: readonly string[] = [];
  let drawnWidth = 0;
  let isOpen = true;
  stream.write(HIDE_CURSOR);
  process.once('exit', showCursor);
  process.on('SIGTSTP', suspend);

  function showCursor(): void {
    if (isOpen) stream.write(SHOW_CURSOR);
  }

  /** Ctrl-Z: the shell gets its cursor back. After `fg` it continues below what the shell has written. */
  function suspend(): void {
    showCursor();
    process.kill(process.pid, 'SIGSTOP');
    drawn = [];
    stream.write(HIDE_CURSOR);
  }

  /** After the terminal became narrower a line takes more than one row. */
  function erase(): string {
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(displayWidth(line) / columns())), 0);
    return rows === 0 ? '' : `\x1b[${rows}A\r\x1b[J`;
  }

  /** All of it again. */
  function replace(above: readonly string[], lines: readonly string[]): string {
    return erase() + [...above, ...lines].map((line) => `${line}\n`).join('');
  }

  /** Only the rows that differ; the cursor ends where it began, below them. */
  function patch(lines: readonly string[]): string {
    return lines
      .map((line, index) => ({ line, up: lines.length - index, isOld: line === drawn[index] }))
      .filter(({ isOld }) => !isOld)
      .map(({ line, up }) => `\x1b[${up}A\r\x1b[K${line}\x1b[${up}B\r`)
      .join('');
  }

  function write(above: readonly string[], lines: readonly string[]): void {
    const isSamePlace = above.length === 0 && lines.length === drawn.length && drawnWidth === columns();
    const text = isSamePlace ? patch(lines) : replace(above, lines);
    drawn = lines;
    drawnWidth = columns();
    if (text !== '') stream.write(`${BEGIN}${text}${END}`);
  }

  return {
    draw(lines, above = []) {
      if (isOpen) write(above, lines);
    },
    close() {
      if (!isOpen) return;
      write([], []);
      stream.write(SHOW_CURSOR);
      isOpen = false;
      process.off('exit', showCursor);
      process.off('SIGTSTP', suspend);
    },
  };
}

/** A terminal that knows these shows all of a change at once; others pass over them. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
