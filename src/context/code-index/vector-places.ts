/** The places of many chunks, a byte for each axis, and those that lie nearest to a question. */
import type { Scored } from './corpus.ts';

const FIRST_SLOTS = 256;
/** Below it a chunk has nothing to do with the question. */
const NEAR = 0.1;

export interface VectorPlaces {
  place(chunk: number, vector: Float32Array): void;
  forget(chunk: number): void;
  /** Best first. */
  search(asked: Float32Array, limit: number): Scored[];
}

export function createVectorPlaces(dims: number): VectorPlaces {
  const slots = new Map<number, number>();
  const free: number[] = [];
  let used = 0;
  let bytes = new Int8Array(FIRST_SLOTS * dims);
  /** What a step of each slot's numbers is worth; 0 for an empty one. */
  let scales = new Float32Array(FIRST_SLOTS);
  let chunks = new Float64Array(FIRST_SLOTS);

  function takeSlot(): number {
    const slot = free.pop() ?? used++;
    if (slot < scales.length) return slot;
    const more = 2 * scales.length;
    bytes = grown(bytes, new Int8Array(more * dims));
    scales = grown(scales, new Float32Array(more));
    chunks = grown(chunks, new Float64Array(more));
    return slot;
  }

  return {
    place(chunk, vector) {
      const slot = slots.get(chunk) ?? takeSlot();
      slots.set(chunk, slot);
      let largest = 0;
      for (const part of vector) largest = Math.max(largest, Math.abs(part));
      const scale = largest / 127 || 1;
      for (let axis = 0; axis < dims; axis++) bytes[slot * dims + axis] = Math.round(vector[axis]! / scale);
      scales[slot] = scale;
      chunks[slot] = chunk;
    },
    forget(chunk) {
      const slot = slots.get(chunk);
      if (slot === undefined) return;
      slots.delete(chunk);
      scales[slot] = 0;
      free.push(slot);
    },
    search(asked, limit) {
      const nearest = createNearest(limit);
      for (let slot = 0; slot < used; slot++) {
        const scale = scales[slot]!;
        if (scale === 0) continue;
        const score = scale * product(asked, bytes, slot * dims);
        if (score > NEAR) nearest.offer(chunks[slot]!, score);
      }
      return nearest.found;
    },
  };
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

function grown<T extends Int8Array | Float32Array | Float64Array>(from: T, into: T): T {
  into.set(from);
  return into;
}

/** The best so far, in order: few of many are ever among them, so sorting all would cost more. */
function createNearest(limit: number): { found: Scored[]; offer(chunk: number, score: number): void } {
  const found: Scored[] = [];
  return {
    found,
    offer(chunk, score) {
      const last = found.at(-1);
      if (found.length === limit && last && score <= last.score) return;
      let at = found.length;
      while (at > 0 && found[at - 1]!.score < score) at--;
      found.splice(at, 0, { chunk, score });
      if (found.length > limit) found.pop();
    },
  };
}
