import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countModelWords, hashWord } from '../../../src/context/code-index/model-words.ts';
import { loadWordVectors, readWordVectors } from '../../../src/context/code-index/word-vectors.ts';

const FILE = new URL('../../../models/code-words.bin', import.meta.url);
const model = loadWordVectors();
const bytes = readFileSync(FILE);

function nearness(question: string, chunk: Partial<Parameters<typeof model.placeChunk>[0]>): number {
  const asked = model.placeQuestion(question)!;
  const place = model.placeChunk({ body: '', name: '', path: '', container: '', ...chunk })!;
  return asked.reduce((sum, part, axis) => sum + part * place[axis]!, 0);
}

describe('the words of the model', () => {
  it('are the parts of identifiers, as its training had them', () => {
    expect([
      ...countModelWords('parseHTTPHeader2(x_y, "Öl und Äpfel"): readFile; readFile a sha256SUM'),
    ]).toEqual([
      ['parse', 1],
      ['http', 1],
      ['header', 1],
      ['öl', 1],
      ['und', 1],
      ['äpfel', 1],
      ['read', 2],
      ['file', 2],
      ['sha', 1],
      ['sum', 1],
    ]);
  });

  it('are the first 80 different ones of the first 260', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    const many = Array.from(
      { length: 100 },
      (_, at) => `w${letters[at % 26]}${letters[Math.floor(at / 26)]}`,
    );
    expect(countModelWords(many.join(' ')).size).toBe(80);
    expect(countModelWords('word '.repeat(400)).get('word')).toBe(260);
  });

  it('share a row by the same hash as in training', () => {
    expect(hashWord('pulse')).toBe(1_426_849_438);
    expect(hashWord('äpfel')).toBe(2_964_032_572);
  });
});

describe('the model of the code index', () => {
  it('is the file that was measured', () => {
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(
      'd6879d0fed371098e92650e7c2a07f75cf4bf68cd8c83b5c738e8a2240789852',
    );
    expect(bytes.length).toBeLessThan(8_000_000);
    expect(model.dims).toBe(128);
  });

  it('places a chunk and a question where the training does', () => {
    const chunk = {
      body: 'export function removeFile(path: string) { unlinkSync(path) } // file',
      name: 'removeFile',
      path: 'src/files/disk.ts',
    };
    // These were computed from the same file by other code, in another language.
    expect(nearness('delete something from disk', chunk)).toBeCloseTo(0.54637, 4);
    expect(nearness('open a network connection', chunk)).toBeCloseTo(-0.01601, 2);
  });

  it.each([
    ['delete', ['remove', 'connect', 'render', 'sort']],
    ['retry', ['backoff', 'colour', 'matrix', 'lexer']],
    ['directory', ['mkdir', 'socket', 'signature', 'pixel']],
    ['encrypt', ['plaintext', 'calendar', 'parser', 'button']],
  ])('has a neighbour of %s that is no form of the word', (word, [neighbour, ...strangers]) => {
    const near = nearness(word, { body: neighbour! });
    for (const stranger of strangers) expect(nearness(word, { body: stranger })).toBeLessThan(near);
  });

  it('has a place for words that it has never seen, and none for no words', () => {
    expect(model.placeQuestion('zxqvbnmw')).not.toBeNull();
    expect(model.placeQuestion('42 + 7')).toBeNull();
    expect(model.placeChunk({ body: '', name: '', path: '', container: '' })).toBeNull();
  });

  it('refuses bytes that are no model', () => {
    expect(() => readWordVectors(new Uint8Array(0))).toThrow(/model of the code index/);
    expect(() => readWordVectors(bytes.subarray(0, 1_000_000))).toThrow(/model of the code index/);
    expect(() => readWordVectors(Buffer.concat([bytes, Buffer.from('\nmore')]))).toThrow(/model of the code/);
  });
});
