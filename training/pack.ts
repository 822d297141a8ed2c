/**
 * `node training/pack.ts EXTRACTED INTO [MAX_CHUNKS]`: the words' numbers of all chunks and questions as plain arrays,
 * one folder for the packages that are learnt from and one for those of development. What is held out is not packed,
 * and what stands there word for word is not learnt from elsewhere.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countModelWords } from '../src/context/code-index/model-words.ts';
import { digest, type Extracted, type Role, readExtracted, readList } from './packages.ts';
import { commonFolder, type LearntChunk } from './read-package.ts';
import { chooseWords, type Vocabulary } from './vocabulary.ts';

const [folder = '', into = '', maxChunks = 'Infinity'] = process.argv.slice(2);
const MIN_WORDS = 4;

const listed = new Map(readList().map((each) => [`${each.registry} ${each.name}`, each]));
const roleOf = ({ about }: Extracted): Role | undefined =>
  listed.get(`${about.registry} ${about.name}`)?.role;

const projects = new Map<string, number>();
const known = new Set<string>();
let useful = 0;
countAll();
const vocabulary = chooseWords(projects);
mkdirSync(into, { recursive: true });
writeFileSync(join(into, 'words.txt'), `${vocabulary.words.join('\n')}\n`);
for (const role of ['learn', 'develop'] as const) pack(role);

/** In how many projects each word is, and what must not be learnt. */
function countAll(): void {
  const byProject = new Map<string, Set<string>>();
  for (const extracted of readExtracted(folder)) {
    const role = roleOf(extracted);
    if (role !== 'learn') {
      for (const chunk of extracted.chunks) for (const key of keysOf(chunk)) known.add(key);
      continue;
    }
    const words = byProject.get(extracted.about.project) ?? new Set<string>();
    byProject.set(extracted.about.project, words);
    for (const chunk of extracted.chunks) {
      if (isUseful(chunk)) useful++;
      for (const word of chunk.words) if (typeof word === 'string') words.add(word);
      for (const question of chunk.questions)
        for (const word of countModelWords(question).keys()) words.add(word);
    }
  }
  for (const words of byProject.values())
    for (const word of words) projects.set(word, (projects.get(word) ?? 0) + 1);
}

function keysOf({ words, questions }: LearntChunk): string[] {
  return [digest(words.join(' ')), ...questions.map(digest)];
}

/** It has a question, or its name is one. */
function isUseful({ name, words, questions }: LearntChunk): boolean {
  return questions.length > 0 || (name !== null && words.length / 2 >= 8 && countModelWords(name).size >= 2);
}

interface Ragged {
  rows: number[];
  lengths: number[];
}

function pack(role: 'learn' | 'develop'): void {
  const target = join(into, role);
  mkdirSync(target, { recursive: true });
  const body: Ragged & { counts: number[] } = { rows: [], lengths: [], counts: [] };
  const fields = { name: ragged(), path: ragged(), container: ragged(), question: ragged() };
  const asked: number[] = [];
  const packageOf: number[] = [];
  const languages: string[] = [];
  const seen = new Set<string>();
  const keep = Math.min(1, Number(maxChunks) / useful);
  for (const extracted of readExtracted(folder)) {
    if (roleOf(extracted) !== role) continue;
    const prefix = commonFolder(extracted.chunks.map(({ path }) => path));
    for (const chunk of extracted.chunks) {
      const keys = keysOf(chunk);
      if (role === 'learn') {
        if (!isUseful(chunk) || chunk.words.length / 2 < MIN_WORDS) continue;
        if (seen.has(keys[0]!) || keys.some((key) => known.has(key))) continue;
        seen.add(keys[0]!);
        // Chunks without a question are the first for which there is no room.
        if (chunk.questions.length === 0 && Number.parseInt(keys[0]!.slice(0, 8), 16) / 2 ** 32 > keep)
          continue;
      }
      const number = packageOf.push(languages.length) - 1;
      addBody(body, chunk.words);
      add(fields.name, vocabulary, chunk.name ?? '');
      add(fields.path, vocabulary, chunk.path.slice(prefix));
      add(fields.container, vocabulary, chunk.container ?? '');
      for (const question of chunk.questions) {
        add(fields.question, vocabulary, question);
        asked.push(number);
      }
    }
    languages.push(extracted.language);
  }
  write(target, 'body.rows', Uint16Array.from(body.rows));
  write(target, 'body.counts', Uint8Array.from(body.counts));
  write(target, 'body.lengths', Uint8Array.from(body.lengths));
  for (const [name, { rows, lengths }] of Object.entries(fields)) {
    write(target, `${name}.rows`, Uint16Array.from(rows));
    write(target, `${name}.lengths`, Uint8Array.from(lengths));
  }
  write(target, 'asked', Uint32Array.from(asked));
  write(target, 'package', Uint16Array.from(packageOf));
  writeFileSync(join(target, 'languages.txt'), `${languages.join('\n')}\n`);
  process.stdout.write(
    `${role}: ${languages.length} packages, ${packageOf.length} chunks, ${asked.length} questions\n`,
  );
}

function ragged(): Ragged {
  return { rows: [], lengths: [] };
}

function addBody(body: Ragged & { counts: number[] }, words: readonly (string | number)[]): void {
  const merged = new Map<number, number>();
  for (let at = 0; at < words.length; at += 2) {
    const row = vocabulary.rowOf(words[at] as string);
    merged.set(row, (merged.get(row) ?? 0) + (words[at + 1] as number));
  }
  // In order and as differences: that takes less room.
  let last = 0;
  for (const [row, count] of [...merged].sort(([a], [b]) => a - b)) {
    body.rows.push(row - last);
    body.counts.push(Math.min(count, 255));
    last = row;
  }
  body.lengths.push(merged.size);
}

function add(field: Ragged, { rowOf }: Vocabulary, text: string): void {
  const rows = new Set([...countModelWords(text).keys()].map(rowOf));
  field.rows.push(...rows);
  field.lengths.push(rows.size);
}

function write(target: string, name: string, values: Uint8Array | Uint16Array | Uint32Array): void {
  writeFileSync(join(target, name), new Uint8Array(values.buffer));
}
