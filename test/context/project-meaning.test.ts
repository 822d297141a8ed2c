import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { indexTurns } from '../../src/context/search/index-turns.ts';
import { createProjectMeaning, type ProjectMeaning } from '../../src/context/search/project-meaning.ts';
import { queryRag } from '../../src/context/search/query-rag.ts';
import { askedTerms, countTerms, writeTerms } from '../../src/context/search/term-hashes.ts';
import { createTurnMeaning } from '../../src/context/search/turn-meaning.ts';
import { contentHash } from '../../src/context/turns.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { insertTurns } from '../../src/store/turns.ts';
import { at, uuid } from './transcripts.ts';

const PROJECT = 'project';
const COMPANIES = [
  'the garden and the flower of spring',
  'the recipe and the oven of a kitchen',
  'the invoice and the payment of billing',
  'the socket and the packet of transport',
];
/** A word of its own for each turn. */
const word = (number: number) =>
  `zq${[...String(number)].map((digit) => 'bcdfghjklm'[Number(digit)]).join('')}`;
const said = (number: number) => `${COMPANIES[number % 4]} ${word(number)}`;
const turn = (number: number, text = said(number)) => ({
  number,
  terms: writeTerms(countTerms(PROJECT, text)),
});
const turns = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => turn(from + index));
const find = (meaning: ProjectMeaning, question: string) =>
  meaning.search({ terms: askedTerms(PROJECT, question), within: null, limit: 200 });

function learnAll(meaning: ProjectMeaning): number {
  let steps = 0;
  while (meaning.learn()) steps++;
  return steps;
}

describe('the model of a project’s turns', () => {
  it('is the same however its turns have come, and whatever was asked meanwhile', () => {
    const atOnce = createProjectMeaning();
    atOnce.add(turns(0, 400));
    learnAll(atOnce);
    const oneByOne = createProjectMeaning();
    for (let number = 0; number < 400; number++) {
      oneByOne.add([turn(number)]);
      // Sometimes there is no time for it.
      if (number % 7 > 0) learnAll(oneByOne);
      find(oneByOne, 'flower');
    }
    learnAll(oneByOne);
    for (const question of ['invoice', 'packet oven', word(7)])
      expect(find(oneByOne, question)).toEqual(find(atOnce, question));
    expect(find(atOnce, 'invoice').length).toBeGreaterThan(90);
  });

  it('places what is new, and is fitted again only when much is', () => {
    const meaning = createProjectMeaning();
    meaning.add(turns(0, 600));
    learnAll(meaning);
    let fits = 0;
    for (let number = 600; number < 900; number++) {
      meaning.add([number < 898 ? turn(number) : turn(number, 'a payment for billing')]);
      if (learnAll(meaning) > 0) fits++;
      expect(meaning.state()).toBe('ready');
    }
    expect(fits).toBeGreaterThan(2);
    expect(fits).toBeLessThan(7);
    // It has no word of the question, but their company.
    const asked = { terms: askedTerms(PROJECT, 'invoice'), within: [898, 899], limit: 10 };
    expect(meaning.search(asked).sort()).toEqual([898, 899]);
  });

  it('says that it is learning, and that there is nothing to learn from', () => {
    const meaning = createProjectMeaning();
    meaning.add(turns(0, 20));
    expect([meaning.state(), meaning.learn()]).toEqual(['none', false]);
    meaning.add(turns(20, 200));
    expect([meaning.state(), find(meaning, 'invoice')]).toEqual(['learning', []]);
    learnAll(meaning);
    expect(meaning.state()).toBe('ready');
    expect(find(meaning, 'invoice')).not.toEqual([]);
  });
});

describe('a search', () => {
  const fill = (store: Store, from: number, to: number) =>
    store.tx('test', (db) =>
      insertTurns(
        db,
        Array.from({ length: to - from }, (_, index) => ({
          ...{ id: uuid(from + index), parent_id: null, project_id: PROJECT, session_id: null },
          ...{ iteration_number: null, role: 'user', phase: 'planning', depth: 0, salience: 0.5 },
          ...{ content: said(from + index), content_hash: contentHash(said(from + index)) },
          created_at: at(from + index),
        })),
      ),
    );

  it('is answered by words while the first model is fitted, and by both while it is fitted again', async () => {
    const store = await openSqlite({ path: ':memory:' });
    const meaning = createTurnMeaning();
    onTestFinished(async () => {
      await meaning[Symbol.asyncDispose]();
      await store.close();
    });
    const ask = (patienceMs = 0) =>
      queryRag({ store, meaning }, { goal: word(3), projectId: PROJECT, slice: null, patienceMs });
    await fill(store, 0, 1_900);
    expect((await ask()).map(({ turn_id }) => turn_id)).toEqual([uuid(3)]);
    expect(meaning.state(PROJECT)).toBe('learning');
    await ask(60_000);
    expect(meaning.state(PROJECT)).toBe('ready');
    // So many that a fit begins.
    await fill(store, 1_900, 2_500);
    await ask(60_000);
    expect(meaning.state(PROJECT)).toBe('ready');
  });

  it('leaves no thread behind, and the next one knows as much', async () => {
    const store = await openSqlite({ path: ':memory:' });
    const meaning = createTurnMeaning({ restMs: 50 });
    onTestFinished(async () => {
      await meaning[Symbol.asyncDispose]();
      await store.close();
    });
    await fill(store, 0, 1_200);
    await indexTurns(store, PROJECT);
    const question = { projectId: PROJECT, terms: askedTerms(PROJECT, 'invoice'), within: null, limit: 20 };
    const begun = once(process, 'worker') as Promise<[Worker]>;
    const first = await meaning.search(store, { ...question, patienceMs: 60_000 });
    expect(first).toHaveLength(20);
    const [worker] = await begun;
    await new Promise((resolve) => worker.once('exit', resolve));
    expect(await meaning.search(store, { ...question, patienceMs: 60_000 })).toEqual(first);
  });

  it('that is many at once teaches each turn once', async () => {
    const store = await openSqlite({ path: ':memory:' });
    const meaning = createTurnMeaning();
    onTestFinished(async () => {
      await meaning[Symbol.asyncDispose]();
      await store.close();
    });
    await fill(store, 0, 1_200);
    await indexTurns(store, PROJECT);
    const question = { projectId: PROJECT, terms: askedTerms(PROJECT, 'invoice'), within: null };
    const ask = () => meaning.search(store, { ...question, limit: 200, patienceMs: 60_000 });
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, ask));
    for (const other of others) expect(other).toEqual(first);
    expect([first!.length, new Set(first).size]).toEqual([200, 200]);
  });
});
