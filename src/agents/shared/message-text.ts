import type { RunEvent } from '../contract.ts';
import { keepEnd, MAX_TEXT_LENGTH } from './kept-text.ts';

/** Joins the pieces of a streamed message, in bounded memory. */
export interface MessageText {
  add(piece: string): void;
  /** Ends the message: its `text`, if it says anything. */
  end(): RunEvent[];
  /** The last message that says anything, ended or not. */
  last(): string;
}

export function createMessageText(): MessageText {
  let pieces: string[] = [];
  let length = 0;
  let last = '';

  /** Joins only at twice the cap, so that many small pieces are not joined each time. */
  function add(piece: string): void {
    pieces.push(keepEnd(piece));
    length += piece.length;
    if (length <= 2 * MAX_TEXT_LENGTH) return;
    pieces = [keepEnd(pieces.join(''))];
    length = MAX_TEXT_LENGTH;
  }

  function end(): RunEvent[] {
    const text = keepEnd(pieces.join(''));
    pieces = [];
    length = 0;
    if (text.trim() === '') return [];
    last = text;
    return [{ type: 'text', text }];
  }

  return {
    add,
    end,
    last() {
      const text = keepEnd(pieces.join(''));
      return text.trim() === '' ? last : text;
    },
  };
}
