/** What is learnt of a file, as bytes: its chunks, their words and their places. */
import type { Chunk } from './line-windows.ts';

export interface LearntChunk extends Chunk {
  /** Of its name and body, with how often; not of its path. */
  words: readonly (readonly [term: string, count: number])[];
  /** A byte an axis, and what a step is worth; `null`: it has no place. */
  vector: { bytes: Int8Array; scale: number } | null;
}

/** Words stand once at the beginning, and chunks name them by their number there. */
export function writeLearnt(chunks: readonly LearntChunk[]): Uint8Array {
  const numbers = new Map<string, number>();
  for (const { words } of chunks)
    for (const [term] of words) if (!numbers.has(term)) numbers.set(term, numbers.size);
  const heads = chunks.map(({ startLine, endLine, name, container, vector, words }) => ({
    ...{ s: startLine, e: endLine, n: name, c: container, w: words.length },
    v: vector ? vector.scale : 0,
  }));
  const text = Buffer.from(JSON.stringify({ words: [...numbers.keys()], heads }), 'utf8');
  const parts: Uint8Array[] = [Buffer.alloc(4), text];
  new DataView(parts[0]!.buffer, parts[0]!.byteOffset).setUint32(0, text.length, true);
  for (const { words, vector } of chunks) {
    const entries = Buffer.alloc(5 * words.length);
    for (const [index, [term, count]] of words.entries()) {
      entries.writeUInt32LE(numbers.get(term)!, 5 * index);
      entries.writeUInt8(Math.min(count, 255), 5 * index + 4);
    }
    parts.push(entries);
    if (vector) parts.push(new Uint8Array(vector.bytes.buffer, vector.bytes.byteOffset, vector.bytes.length));
  }
  return Buffer.concat(parts);
}

/** `null` for bytes that are no such thing. */
export function readLearnt(bytes: Uint8Array, dims: number): LearntChunk[] | null {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const head = view.getUint32(0, true);
    const { words: terms, heads } = JSON.parse(Buffer.from(bytes.subarray(4, 4 + head)).toString('utf8')) as {
      words: string[];
      heads: { s: number; e: number; n: string | null; c: string | null; w: number; v: number }[];
    };
    let at = 4 + head;
    return heads.map(({ s, e, n, c, w, v }) => {
      const words = Array.from({ length: w }, (_, index): readonly [string, number] => {
        const from = at + 5 * index;
        return [terms[view.getUint32(from, true)]!, view.getUint8(from + 4)];
      });
      at += 5 * w;
      const vector = v === 0 ? null : { scale: v, bytes: new Int8Array(bytes.subarray(at, at + dims)) };
      if (vector) at += dims;
      return { startLine: s, endLine: e, name: n, container: c, words, vector };
    });
  } catch {
    return null;
  }
}
