/**
 * Searching what was said: today's search (BM25 with neighbours, and the company that words keep) against plain BM25, on
 * generated talks. docs/benchmarks.md describes them (w).
 */
import { parseArgs } from 'node:util';
import { queryRag } from '../src/context/search/query-rag.ts';
import { askedTerms, countTerms } from '../src/context/search/term-hashes.ts';
import { createTurnMeaning } from '../src/context/search/turn-meaning.ts';
import { contentHash } from '../src/context/turns.ts';
import { openSqlite } from '../src/store/open-sqlite.ts';
import { insertTurns, type NewTurn } from '../src/store/turns.ts';
import { createRandom } from '../test/fakes/random.ts';
import { type Row, tell } from './row.ts';
import { interval } from './statistics.ts';
import { type Exchange, generateTalks, type SaidTurn } from './talks.ts';

const { values } = parseArgs({ options: { seed: { type: 'string', default: '15' } } });
const PROJECT = 'bench';
const LIMIT = 20;
/** The model is measured, and not how soon there is one. */
const PATIENCE_MS = 60_000;
const [K1, B] = [1.2, 0.75];

const { turns, exchanges } = generateTalks(createRandom(Number(values.seed)));
const store = await openSqlite({ path: ':memory:' });
await store.tx('fill', (db) => insertTurns(db, turns.map(rowOf)));
await using meaning = createTurnMeaning();

const plain = createPlainSearch(turns);
const KINDS = ['of the answer', 'of the one who asked', 'of neither, and one of the answer'] as const;
const rows: Row[] = [];
const all: Measured = { before: [], words: [], after: [] };
for (const kind of KINDS) {
  const found = await measure(exchanges, kind);
  all.before.push(...found.before);
  all.words.push(...found.words);
  all.after.push(...found.after);
  rows.push(row(`words ${kind}`, found));
}
rows.unshift(
  { ...row('all questions', all), target: 'above plain BM25', isMet: gain(all).low > 0 },
  row('all questions, by words and neighbours alone', { ...all, after: all.words }),
);
await store.close();
tell(rows);

type Kind = (typeof KINDS)[number];

/** What each question was worth: by plain BM25, with the neighbours' words, and with the company that words keep as well. */
interface Measured {
  before: number[];
  words: number[];
  after: number[];
}

async function measure(asked: readonly Exchange[], kind: Kind): Promise<Measured> {
  const measured: Measured = { before: [], words: [], after: [] };
  for (const { answer, questions } of asked) {
    const question = questions[kind];
    measured.before.push(worth(plain(question), answer));
    measured.words.push(worth(await search({ store }, question), answer));
    measured.after.push(worth(await search({ store, meaning }, question), answer));
  }
  return measured;
}

async function search(means: Parameters<typeof queryRag>[0], goal: string): Promise<string[]> {
  const whole = { projectId: PROJECT, slice: null, limit: LIMIT, patienceMs: PATIENCE_MS };
  const found = await queryRag(means, { goal, ...whole });
  return found.map(({ turn_id }) => turn_id);
}

function worth(found: readonly string[], wanted: string): number {
  const at = found.indexOf(wanted);
  return at === -1 ? 0 : 1 / (at + 1);
}

/** The same words and the same weights, each turn by itself. */
function createPlainSearch(said: readonly SaidTurn[]): (question: string) => string[] {
  const counted = said.map(({ id, content }) => {
    const counts = new Map(countTerms(PROJECT, content).map(({ term, count }) => [term, count]));
    return { id, counts, length: [...counts.values()].reduce((sum, count) => sum + count, 0) };
  });
  const average = counted.reduce((sum, { length }) => sum + length, 0) / counted.length;
  const having = new Map<string, number>();
  for (const { counts } of counted)
    for (const term of counts.keys()) having.set(term, (having.get(term) ?? 0) + 1);
  return (question) => {
    const terms = askedTerms(PROJECT, question);
    return counted
      .map(({ id, counts, length }) => {
        let score = 0;
        for (const term of terms) {
          const [count = 0, documents = 0] = [counts.get(term), having.get(term)];
          const rarity = Math.log(1 + (counted.length - documents + 0.5) / (documents + 0.5));
          score += (rarity * (count * (K1 + 1))) / (count + K1 * (1 - B + (B * length) / average));
        }
        return { id, score };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, LIMIT)
      .map(({ id }) => id);
  };
}

function gain({ before, after }: Pick<Measured, 'before' | 'after'>) {
  const [low, high] = interval(after.map((each, at) => each - before[at]!));
  return { low, high, mean: mean(after) - mean(before) };
}

function row(what: string, measured: Pick<Measured, 'before' | 'after'>): Row {
  const { before, after } = measured;
  const { low, high, mean: sum } = gain(measured);
  return {
    what: `(w) the turn that answers, ${what}`,
    measured: `MRR ${mean(after).toFixed(3)}`,
    beside: `plain BM25 ${mean(before).toFixed(3)}; ${before.length} questions, ${turns.length} turns`,
    result: `${signed(sum)} [${signed(low)}, ${signed(high)}]`,
    ...{ target: '', isMet: null },
  };
}

function mean(of: readonly number[]): number {
  return of.reduce((sum, each) => sum + each, 0) / of.length;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

function rowOf({ id, parentId, role, content }: SaidTurn, number: number): NewTurn {
  return {
    ...{ id, parent_id: parentId, project_id: PROJECT, session_id: null, iteration_number: null, depth: 0 },
    ...{ role, phase: 'planning', content, content_hash: contentHash(content), salience: 0.5 },
    created_at: new Date(number * 1000).toISOString(),
  };
}
