/** A few lines at the bottom of the terminal that are drawn again in place; everything else scrolls above them. */

import { displayWidth } from '../../terminal/text.ts';
import type { Side } from '../output.ts';

export interface LiveRegion {
  /** Lines that stay, above the region. */
  print(lines: readonly string[]): void;
  /** Replaces the region. Lines must not be wider than the terminal. */
  draw(lines: readonly string[]): void;
  /** Removes the region and shows the cursor. May be called twice. */
  close(): void;
}

export function createLiveRegion({ stream, columns }: Pick<Side, 'stream' | 'columns'>): LiveRegion {
  let drawn: readonly string[] = [];
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

  function write(above: readonly string[], lines: readonly string[]): void {
    const text = [...above, ...lines].map((line) => `${line}\n`).join('');
    stream.write(erase() + text);
    drawn = lines;
  }

  return {
    print: (lines) => write(lines, drawn),
    draw(lines) {
      if (isOpen) write([], lines);
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

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
