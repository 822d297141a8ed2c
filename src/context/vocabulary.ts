/**
 * Byte-pair counts from a vocabulary in the published `.tiktoken` format, kept as bytes. As strings in a map it takes
 * seventy megabytes, and all memory of Pulse is paid for with every process that it starts: a fork copies the
 * page tables.
 */
export interface Vocabulary {
  /** How many tokens these bytes of one piece are. */
  count(piece: Uint8Array): number;
}

const NONE = -1;

/** Lines of `base64 rank`, in the order of the ranks. */
export function readVocabulary(file: Uint8Array): Vocabulary {
  const { bytes, ends } = decodeLines(file);
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(ends.length * 2))).fill(NONE);
  const mask = slots.length - 1;
  const startOf = (rank: number): number => (rank === 0 ? 0 : ends[rank - 1]!);
  for (let rank = 0; rank < ends.length; rank++) {
    let slot = hash(bytes, startOf(rank), ends[rank]!) & mask;
    while (slots[slot] !== NONE) slot = (slot + 1) & mask;
    slots[slot] = rank;
  }

  function rankOf(piece: Uint8Array, from: number, to: number): number {
    for (let slot = hash(piece, from, to) & mask; ; slot = (slot + 1) & mask) {
      const rank = slots[slot]!;
      if (rank === NONE) return NONE;
      const start = startOf(rank);
      if (ends[rank]! - start === to - from && isSame(bytes, start, { piece, from, to })) return rank;
    }
  }

  return {
    count(piece) {
      if (piece.length < 2 || rankOf(piece, 0, piece.length) !== NONE) return Math.min(piece.length, 1);
      return merged(piece, rankOf);
    },
  };
}

/** Joins the neighbours of the lowest rank, the leftmost first, until no two make a token. */
function merged(piece: Uint8Array, rankOf: (piece: Uint8Array, from: number, to: number) => number): number {
  // Where each part begins, and the rank that it makes with the part behind it.
  const starts = Array.from({ length: piece.length + 1 }, (_, at) => at);
  const rankAt = (at: number): number =>
    at + 2 < starts.length ? rankOf(piece, starts[at]!, starts[at + 2]!) : NONE;
  const ranks = starts.map((_, at) => rankAt(at));
  for (;;) {
    let best = NONE;
    for (let at = 0; at < ranks.length; at++) {
      if (ranks[at] !== NONE && (best === NONE || ranks[at]! < ranks[best]!)) best = at;
    }
    if (best === NONE) return starts.length - 1;
    starts.splice(best + 1, 1);
    ranks.splice(best + 1, 1);
    ranks[best] = rankAt(best);
    if (best > 0) ranks[best - 1] = rankAt(best - 1);
  }
}

/** All tokens one behind the other, and where each ends. */
function decodeLines(file: Uint8Array): { bytes: Uint8Array; ends: Uint32Array } {
  const bytes = new Uint8Array(Math.ceil(file.length * 0.75));
  const ends: number[] = [];
  let length = 0;
  let at = 0;
  while (at < file.length) {
    let bits = 0;
    let held = 0;
    for (; at < file.length && file[at] !== SPACE; at++) {
      const value = SIXES[file[at]!]!;
      if (value === PADDING) continue;
      bits = (bits << 6) | value;
      held += 6;
      if (held < 8) continue;
      held -= 8;
      bytes[length++] = (bits >> held) & 0xff;
    }
    ends.push(length);
    while (at < file.length && file[at] !== LINE_BREAK) at++;
    at++;
  }
  return { bytes: bytes.slice(0, length), ends: Uint32Array.from(ends) };
}

const SPACE = 0x20;
const LINE_BREAK = 0x0a;
const PADDING = 0xff;
const SIXES = new Uint8Array(256).fill(PADDING);
for (const [value, letter] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  SIXES[letter.charCodeAt(0)] = value;

/** FNV-1a. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let value = 0x811c9dc5;
  for (let at = from; at < to; at++) value = Math.imul(value ^ bytes[at]!, 0x01000193);
  return value ^ (value >>> 15);
}

function isSame(
  bytes: Uint8Array,
  start: number,
  { piece, from, to }: { piece: Uint8Array; from: number; to: number },
): boolean {
  for (let at = from; at < to; at++) if (piece[at] !== bytes[start + at - from]) return false;
  return true;
}
