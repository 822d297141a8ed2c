/** Calls a person who looks elsewhere: the bell, and words for a terminal that shows such on the desktop (OSC 9). Pure. */
import { sanitizeLine, shorten } from './text.ts';

const BELL = '\x07';
const ESC = '\x1b';
const MOST_COLUMNS = 120;

export function callOf(words: string, { TERM, TMUX }: { TERM?: string; TMUX?: string }): string {
  // It knows no words, and would print them.
  if (TERM === 'linux') return BELL;
  const shown = `${ESC}]9;Pulse: ${shorten(sanitizeLine(words), MOST_COLUMNS)}${BELL}`;
  // tmux hands on only what is wrapped for it.
  return `${BELL}${TMUX ? `${ESC}Ptmux;${shown.replaceAll(ESC, ESC + ESC)}${ESC}\\` : shown}`;
}
