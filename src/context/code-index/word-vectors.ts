/**
 * Pulse's own model of what code is about: a table of word vectors that was trained on public packages
 * (training/README.md). A text is the weighted sum of its words: no network, no native code, nothing downloaded.
 */
import { readFileSync } from 'node:fs';
import { PulseError } from '../../domain/errors.ts';
import { countModelWords, hashWord } from './model-words.ts';

const FILE = new URL('../../../models/code-words.bin', import.meta.url);
const MAGIC = 'PULSEWV1';
const FIELDS = ['body', 'name', 'path', 'container'] as const;

export type ChunkFields = Record<(typeof FIELDS)[number], string>;

export interface WordVectors {
  readonly dims: number;
  /** Both of length one; `null` where a text has no word. */
  placeQuestion(text: string): Float32Array | null;
  placeChunk(fields: ChunkFields): Float32Array | null;
}

interface Header {
  dims: number;
  words: number;
  buckets: number;
  factors: Record<(typeof FIELDS)[number], number>;
}

/** One for all indexes of a thread. */
let loaded: WordVectors | null = null;

/** Reads the file of the package once: some six megabytes, in some twenty milliseconds. */
export function loadWordVectors(): WordVectors {
  loaded ??= readWordVectors(readFileSync(FILE));
  return loaded;
}

/** Throws if the bytes are no such model. */
export function readWordVectors(bytes: Uint8Array): WordVectors {
  const { header, scales, asking, answering, table, rows } = parse(bytes);
  const { dims, factors } = header;
  const rowOf = (word: string) => rows.get(word) ?? header.words + (hashWord(word) % header.buckets);

  /** Adds a text's words to the sum; their weights together have length `factor`. */
  function add(sum: Float32Array, text: string, { weights, factor, isCounted }: Added): void {
    const weighted: [row: number, weight: number][] = [];
    let squares = 0;
    for (const [row, count] of countRows(text)) {
      const weight = weights[row]! * (isCounted ? Math.log1p(count) : 1);
      squares += weight * weight;
      weighted.push([row, weight]);
    }
    if (squares === 0) return;
    const length = factor / Math.sqrt(squares);
    for (const [row, weight] of weighted) {
      const times = weight * length * scales[row]!;
      const offset = row * dims;
      for (let axis = 0; axis < dims; axis++) sum[axis]! += times * table[offset + axis]!;
    }
  }

  function countRows(text: string): Map<number, number> {
    const counts = new Map<number, number>();
    for (const [word, count] of countModelWords(text)) {
      const row = rowOf(word);
      counts.set(row, (counts.get(row) ?? 0) + count);
    }
    return counts;
  }

  return {
    dims,
    placeQuestion(text) {
      const sum = new Float32Array(dims);
      add(sum, text, { weights: asking, factor: 1, isCounted: false });
      return ofLengthOne(sum);
    },
    placeChunk(fields) {
      const sum = new Float32Array(dims);
      for (const field of FIELDS)
        add(sum, fields[field], {
          weights: answering,
          factor: factors[field],
          isCounted: field === 'body',
        });
      return ofLengthOne(sum);
    },
  };
}

interface Added {
  weights: Float32Array;
  factor: number;
  isCounted: boolean;
}

function ofLengthOne(sum: Float32Array): Float32Array | null {
  let squares = 0;
  for (const part of sum) squares += part * part;
  if (squares < 1e-12) return null;
  const length = Math.sqrt(squares);
  return sum.map((part) => part / length);
}

interface Parsed {
  header: Header;
  /** What a step of each row's numbers is worth. */
  scales: Float32Array;
  asking: Float32Array;
  answering: Float32Array;
  table: Int8Array;
  rows: Map<string, number>;
}

function parse(bytes: Uint8Array): Parsed {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (from: number, to?: number) => Buffer.from(bytes.subarray(from, to)).toString('utf8');
  if (bytes.length < 12 || text(0, 8) !== MAGIC) throw notAModel();
  let at = 12 + view.getUint32(8, true);
  const header = JSON.parse(text(12, at)) as Header;
  const count = header.words + header.buckets;
  const end = at + 3 * 4 * count + count * header.dims;
  if (!(end < bytes.length)) throw notAModel();
  const floats = (): Float32Array => {
    const values = new Float32Array(count);
    for (let each = 0; each < count; each++) values[each] = view.getFloat32(at + 4 * each, true);
    at += 4 * count;
    return values;
  };
  const [scales, asking, answering] = [floats(), floats(), floats()];
  const table = new Int8Array(bytes.buffer, bytes.byteOffset + at, end - at);
  const words = text(end).split('\n');
  if (words.length !== header.words) throw notAModel();
  return { header, scales, asking, answering, table, rows: new Map(words.map((word, row) => [word, row])) };
}

function notAModel(): PulseError {
  return new PulseError(
    'internal_error',
    'The model of the code index is not the file that belongs to this version.',
  );
}
