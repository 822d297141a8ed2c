/**
 * A brief that is longer than any may be, cut where it is longest: what is quoted and what is listed. What it begins
 * with, the work itself, is cut last; Pulse's own words are not.
 */
import type { TokenCounter } from './tokens.ts';

/** In the worktree of the run, where a brief was cut. */
export const WHOLE_BRIEF = '.pulse/brief.md';

/** Less of a text helps nobody. */
const LEAST_KEPT = 400;
/** A shorter list is Pulse's own. */
const LONG_LIST = 4_000;
/** Nobody gains by a closer fit. */
const STEP = 64;

const NOTICE = `
## This brief is cut

It was too long. The whole of it stands in \`${WHOLE_BRIEF}\`: read there what is cut above before you begin.
`;

interface Piece {
  text: string;
  /** It may be cut. */
  isFree: boolean;
}

/** The same text where it is short enough. */
export function boundBrief(text: string, { most, count }: { most: number; count: TokenCounter }): string {
  if (count(text, most) <= most) return text;
  const pieces = piecesOf(text);
  const first = pieces.findIndex(({ isFree }) => isFree);
  const render = (cap: number, firstCap: number) =>
    pieces
      .map((piece, index) => (piece.isFree ? clip(piece.text, index === first ? firstCap : cap) : piece.text))
      .join('') + NOTICE;
  const fits = (candidate: string) => count(candidate, most) <= most;
  const longest = Math.max(...pieces.map((piece) => piece.text.length));
  const whole = Number.POSITIVE_INFINITY;
  if (fits(render(LEAST_KEPT, whole))) {
    return render(
      largest(longest, (cap) => fits(render(cap, whole))),
      whole,
    );
  }
  if (fits(render(LEAST_KEPT, LEAST_KEPT))) {
    const firstCap = largest(longest, (cap) => fits(render(LEAST_KEPT, cap)));
    return render(LEAST_KEPT, firstCap);
  }
  // Thousands of small parts, or words of Pulse that are endless because a name in them is.
  const bare = render(0, LEAST_KEPT);
  const middleOut = (kept: number) =>
    `${bare.slice(0, kept).toWellFormed()}\n\n[…]\n\n${bare.slice(-Math.ceil(kept / 3)).toWellFormed()}`;
  return fits(bare) ? bare : middleOut(largest(bare.length, (kept) => fits(middleOut(kept))));
}

/** By halving: with more than the largest it does not fit. */
function largest(highest: number, fits: (cap: number) => boolean): number {
  let low = LEAST_KEPT;
  let high = highest;
  while (high - low > STEP) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function clip(text: string, cap: number): string {
  if (text.length <= cap) return text;
  const cut = (text.length - cap).toLocaleString('en');
  const said = `[… ${cut} letters are cut here; the whole is in ${WHOLE_BRIEF}]\n`;
  return cap === 0 ? said : `${text.slice(0, cap).toWellFormed()}\n${said}`;
}

/** Joined again they are the text. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  const lines = text.split(/(?<=\n)/);
  for (let at = 0; at < lines.length; ) {
    const end = endOfQuote(lines, at) ?? endOfList(lines, at);
    if (end === null) {
      pieces.push({ text: lines[at]!, isFree: false });
      at++;
      continue;
    }
    const isQuote = lines[at]!.startsWith('```');
    if (isQuote) pieces.push({ text: lines[at]!, isFree: false });
    const quoted = lines.slice(isQuote ? at + 1 : at, end).join('');
    // Commands are what will be run: to shorten them would change them.
    const isFree = isQuote ? !/^`+sh$/.test(lines[at]!.trim()) : quoted.length > LONG_LIST;
    pieces.push({ text: quoted, isFree });
    at = end;
    if (isQuote) pieces.push({ text: lines[at++]!, isFree: false });
  }
  return pieces;
}

/** The line that closes the fence which begins here; `null`: none does. */
function endOfQuote(lines: readonly string[], at: number): number | null {
  const fence = /^(`{3,})\w*\n$/.exec(lines[at]!)?.[1];
  if (!fence) return null;
  const end = lines.findIndex((line, index) => index > at && line.trimEnd() === fence);
  return end === -1 ? null : end;
}

/** The line after the list that begins here. */
function endOfList(lines: readonly string[], at: number): number | null {
  let end = at;
  while (end < lines.length && /^\s*(?:[-*]|\d+\.) /.test(lines[end]!)) end++;
  return end === at ? null : end;
}
