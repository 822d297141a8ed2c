/** A whole terminal, drawn row by row: only rows that changed are written, and a screen that stays the same costs nothing. */
import type { WriteStream } from 'node:tty';

export interface Screen extends Disposable {
  /** Shows these rows, from the top. Rows must not be wider than the terminal, and no more than it has. */
  draw(rows: readonly string[], cursor?: { row: number; column: number }): void;
  /** What is drawn next is drawn whole: after its size has changed, the terminal has moved what stood there. */
  forget(): void;
  /** Gives the terminal back for a while, such as to the shell. */
  leave(): void;
  /** Takes it again. */
  enter(): void;
  /** Another view has all of it, from an empty first row on, until `take`; what stood there is not mixed with it. */
  lend(): void;
  take(): void;
}

/** Begins on the alternate screen: what stood there before comes back at the end, also where the process is ended. */
export function openScreen(stream: Pick<WriteStream, 'write'>): Screen {
  let shown: readonly string[] = [];
  let isEntered = false;
  let isLent = false;
  let cursorAt = '';

  function enter(): void {
    if (isEntered) return;
    isEntered = true;
    shown = [];
    cursorAt = '';
    stream.write(`${ALTERNATE}${isLent ? SHOW_CURSOR : HIDE_CURSOR}${CLEAR}`);
  }

  function leave(): void {
    if (!isEntered) return;
    isEntered = false;
    stream.write(`${SHOW_CURSOR}${NORMAL}`);
  }

  process.once('exit', leave);
  enter();
  return {
    enter,
    leave,
    lend() {
      isLent = true;
      if (isEntered) stream.write(`${CLEAR}${SHOW_CURSOR}`);
    },
    take() {
      isLent = false;
      shown = [];
      cursorAt = '';
      if (isEntered) stream.write(`${CLEAR}${HIDE_CURSOR}`);
    },
    forget() {
      shown = [];
      cursorAt = '';
      if (isEntered && !isLent) stream.write(CLEAR);
    },
    draw(rows, cursor) {
      if (!isEntered || isLent) return;
      const count = Math.max(rows.length, shown.length);
      const changed = Array.from({ length: count }, (_, index) => index)
        .filter((index) => (rows[index] ?? '') !== (shown[index] ?? ''))
        .map((index) => `\x1b[${index + 1};1H${rows[index] ?? ''}\x1b[K`);
      const place = cursor ? `\x1b[${cursor.row + 1};${cursor.column + 1}H${SHOW_CURSOR}` : HIDE_CURSOR;
      if (changed.length === 0 && place === cursorAt) return;
      stream.write(`${BEGIN}${changed.join('')}${place}${END}`);
      shown = [...rows];
      cursorAt = place;
    },
    [Symbol.dispose]() {
      leave();
      process.off('exit', leave);
    },
  };
}

const ALTERNATE = '\x1b[?1049h';
const NORMAL = '\x1b[?1049l';
const CLEAR = '\x1b[H\x1b[2J';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
/** A terminal that knows these shows all of a change at once; others pass over them. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';
