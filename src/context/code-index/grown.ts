/** Typed arrays that grow: many small ones, or arrays of numbers, would take several times the memory. */

type Numbers = Int8Array | Uint8Array | Int32Array | Uint32Array | Float32Array;

/** Copying is quick, and what is not used yet is memory that nobody else has. */
const GROWTH = 1.125;

/** The same, or a copy without the room beyond `length`. */
export function fitted<T extends Numbers>(from: T, length: number): T {
  return from.length > length ? (from.slice(0, length) as T) : from;
}

/** The same, or a copy with room for `length` and some more. */
export function grown<T extends Numbers>(from: T, length: number): T {
  if (length <= from.length) return from;
  const kind = from.constructor as new (length: number) => T;
  const into = new kind(Math.max(length, Math.ceil(from.length * GROWTH)));
  into.set(from);
  return into;
}
