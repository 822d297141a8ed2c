/** The places of many chunks, a byte for each axis, and those that lie nearest to a question. */
import { fitted, grown } from './grown.ts';
import { createNearest, type Scored } from './nearest.ts';

const FIRST_SLOTS = 256;
/** Below it a chunk has nothing to do with the question. */
const NEAR = 0.1;
/**
 * Beyond so many slots only those are compared in full of which most axes point the same way as the question's: the
 * nearest so many.
 */
const COMPARED_IN_FULL = 6_000;

export interface VectorPlaces {
  place(chunk: number, vector: Float32Array): void;
  has(chunk: number): boolean;
  forget(chunk: number): void;
  chunks(): Iterable<number>;
  /** Gives back the room that it has for more. */
  trim(): void;
  /** Best first, of those that are wanted. */
  search(asked: Float32Array, limit: number, isWanted?: (chunk: number) => boolean): Scored[];
}

export function createVectorPlaces(
  dims: number,
  { comparedInFull = COMPARED_IN_FULL, near = NEAR }: { comparedInFull?: number; near?: number } = {},
): VectorPlaces {
  const signWords = Math.ceil(dims / 32);
  /** By chunk, one more than its slot; 0 for none. */
  let slots = new Uint32Array(FIRST_SLOTS);
  const free: number[] = [];
  let used = 0;
  let bytes = new Int8Array(FIRST_SLOTS * dims);
  /** A bit for each axis: whether it points forward. */
  let signs = new Uint32Array(FIRST_SLOTS * signWords);
  /** What a step of each slot's numbers is worth; 0 for an empty one. */
  let scales = new Float32Array(FIRST_SLOTS);
  let chunks = new Uint32Array(FIRST_SLOTS);

  function takeSlot(): number {
    const slot = free.pop() ?? used++;
    bytes = grown(bytes, used * dims);
    signs = grown(signs, used * signWords);
    scales = grown(scales, used);
    chunks = grown(chunks, used);
    return slot;
  }

  /** Slots worth comparing, in the order of their numbers. */
  function* candidates(asked: Float32Array, isWanted: ((chunk: number) => boolean) | undefined) {
    const askedSigns = signsOf(asked, new Uint32Array(signWords), 0);
    const distances = new Uint8Array(used);
    const having = new Uint32Array(dims + 2);
    for (let slot = 0; slot < used; slot++) {
      const isOut = scales[slot] === 0 || (isWanted && !isWanted(chunks[slot]!));
      const distance = isOut ? dims + 1 : apart(askedSigns, signs, slot * signWords);
      distances[slot] = distance;
      having[distance]!++;
    }
    let furthest = 0;
    for (let sum = having[0]!; furthest < dims && sum < comparedInFull; sum += having[furthest]!) furthest++;
    for (let slot = 0; slot < used; slot++) if (distances[slot]! <= furthest) yield slot;
  }

  return {
    place(chunk, vector) {
      slots = grown(slots, chunk + 1);
      const slot = slots[chunk] ? slots[chunk]! - 1 : takeSlot();
      slots[chunk] = slot + 1;
      let largest = 0;
      for (const part of vector) largest = Math.max(largest, Math.abs(part));
      const scale = largest / 127 || 1;
      for (let axis = 0; axis < dims; axis++) bytes[slot * dims + axis] = Math.round(vector[axis]! / scale);
      signsOf(vector, signs, slot * signWords);
      scales[slot] = scale;
      chunks[slot] = chunk;
    },
    has: (chunk) => Boolean(slots[chunk]),
    forget(chunk) {
      if (!slots[chunk]) return;
      const slot = slots[chunk]! - 1;
      slots[chunk] = 0;
      scales[slot] = 0;
      free.push(slot);
    },
    *chunks() {
      for (let slot = 0; slot < used; slot++) if (scales[slot]! > 0) yield chunks[slot]!;
    },
    trim() {
      bytes = fitted(bytes, used * dims);
      signs = fitted(signs, used * signWords);
      scales = fitted(scales, used);
      chunks = fitted(chunks, used);
    },
    search(asked, limit, isWanted) {
      const nearest = createNearest(limit);
      const offer = (slot: number): void => {
        const score = scales[slot]! * product(asked, bytes, slot * dims);
        if (score > near) nearest.offer(chunks[slot]!, score);
      };
      if (used > comparedInFull) {
        for (const slot of candidates(asked, isWanted)) offer(slot);
        return nearest.found;
      }
      for (let slot = 0; slot < used; slot++)
        if (scales[slot] !== 0 && (!isWanted || isWanted(chunks[slot]!))) offer(slot);
      return nearest.found;
    },
  };
}

function signsOf(vector: Float32Array, into: Uint32Array, at: number): Uint32Array {
  for (let word = 0; word * 32 < vector.length; word++) {
    let bits = 0;
    for (let bit = 0; bit < 32 && word * 32 + bit < vector.length; bit++)
      if (vector[word * 32 + bit]! > 0) bits |= 1 << bit;
    into[at + word] = bits;
  }
  return into;
}

/** On how many axes they point another way. */
function apart(one: Uint32Array, many: Uint32Array, from: number): number {
  let sum = 0;
  for (let word = 0; word < one.length; word++) {
    let bits = one[word]! ^ many[from + word]!;
    bits -= (bits >>> 1) & 0x55555555;
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    sum += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return sum;
}

/** Four sums at a time: one sum would wait for itself. */
function product(asked: Float32Array, bytes: Int8Array, from: number): number {
  const whole = asked.length - (asked.length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let axis = 0, at = from; axis < whole; axis += 4, at += 4) {
    a += asked[axis]! * bytes[at]!;
    b += asked[axis + 1]! * bytes[at + 1]!;
    c += asked[axis + 2]! * bytes[at + 2]!;
    d += asked[axis + 3]! * bytes[at + 3]!;
  }
  for (let axis = whole; axis < asked.length; axis++) a += asked[axis]! * bytes[from + axis]!;
  return a + b + c + d;
}
