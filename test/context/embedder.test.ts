/** Turns by what they mean, placed by a service: what it is asked, and that nothing depends on it. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTurnEmbeddings, type TurnEmbeddings } from '../../src/context/embedding/turn-embeddings.ts';
import { indexTurns } from '../../src/context/search/index-turns.ts';
import { queryRag } from '../../src/context/search/query-rag.ts';
import { createTurnMeaning } from '../../src/context/search/turn-meaning.ts';
import { createSlice } from '../../src/context/slice/slice.ts';
import { openSliceKeys } from '../../src/context/slice/slice-keys.ts';
import { contentHash } from '../../src/context/turns.ts';
import { type EmbedderSettings, embedderSchema } from '../../src/domain/embedder.ts';
import { createRedactor } from '../../src/domain/redact.ts';
import type { Store } from '../../src/store/store.ts';
import { insertTurns } from '../../src/store/turns.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import {
  EMBEDDING_KEY,
  type EmbeddingServer,
  type Spoken,
  startEmbeddingServer,
} from '../fakes/embedding-server.ts';
import { at, uuid } from './transcripts.ts';

const PROJECT = 'project';
const SECRET = 'hunter2-hunter2-hunter2';
const SAID = ['The automobile is slow', 'Roses need water', 'The invoice was wrong', 'A vessel came in'];
const MODEL: Record<Spoken, string> = {
  ollama: 'nomic-embed-text',
  openai: 'text-embedding-3-small',
  voyage: 'voyage-code-3',
};

async function say(store: Store, texts: readonly string[], { from = 0 } = {}): Promise<void> {
  const turns = texts.map((content, index) => ({
    ...{ id: uuid(from + index), parent_id: null, project_id: PROJECT, session_id: null, depth: 0 },
    ...{ iteration_number: null, role: 'user', phase: 'planning', content, salience: 0.5 },
    ...{ content_hash: contentHash(content), created_at: at(from + index) },
  }));
  await store.tx('test', (db) => insertTurns(db, turns));
  await indexTurns(store, PROJECT);
}

async function useServer(): Promise<EmbeddingServer> {
  const server = await startEmbeddingServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

function settingsFor(server: EmbeddingServer, spoken: Spoken, more: Partial<EmbedderSettings> = {}) {
  const keyEnv = spoken === 'ollama' ? undefined : 'EMBED_API_KEY';
  return { service: spoken, model: MODEL[spoken], url: server.url(spoken), keyEnv, ...more };
}

interface Opened {
  embeddings: TurnEmbeddings;
  search(goal: string): Promise<string[]>;
}

function open(
  store: Store,
  settings: EmbedderSettings | null,
  environment: NodeJS.ProcessEnv = { EMBED_API_KEY: EMBEDDING_KEY },
  questionMs = 60_000,
): Opened {
  const embeddings = createTurnEmbeddings({
    ...{ environment, settings: async () => settings, redact: createRedactor([SECRET]).redact, questionMs },
  });
  const meaning = createTurnMeaning({ embeddings });
  onTestFinished(() => meaning[Symbol.asyncDispose]());
  return {
    embeddings,
    async search(goal) {
      const found = await queryRag({ store, meaning }, { goal, projectId: PROJECT, slice: null });
      for (const { similarity } of found) expect(similarity > 0 && similarity <= 1).toBe(true);
      return found.map(({ turn_id }) => turn_id);
    },
  };
}

const placed = async (store: Store, { embeddings }: Opened) => {
  await embeddings.catchUp(store, PROJECT, 60_000);
  return embeddings.report(store, PROJECT);
};
const texts = ({ asks }: EmbeddingServer) => asks.flatMap((ask) => ask.texts);

onBothStores((openStore) => {
  describe('an embedder', { timeout: 60_000 }, () => {
    it.each(['ollama', 'openai', 'voyage'] as const)(
      'of %s finds turns that share no word',
      async (spoken) => {
        const [store, server] = [await openStore(), await useServer()];
        await say(store, SAID);
        const opened = open(store, settingsFor(server, spoken));
        expect(await placed(store, opened)).toMatchObject({
          state: 'ready',
          model: MODEL[spoken],
          reason: null,
        });
        expect((await opened.search('car'))[0]).toBe(uuid(0));
        expect((await opened.search('flowers'))[0]).toBe(uuid(1));
        expect(texts(server)).toEqual([...SAID.toReversed(), 'car', 'flowers']);
        if (spoken === 'voyage')
          expect(server.asks.map(({ kind }) => kind)).toEqual(['document', 'query', 'query']);
        // The same question is not paid for twice.
        await opened.search('car');
        expect(server.asks).toHaveLength(3);
      },
    );

    it('stores its id, its dimension and its vectors, and places only what has come since', async () => {
      const [store, server] = [await openStore(), await useServer()];
      await say(store, SAID);
      const settings = settingsFor(server, 'voyage', { dimensions: 12 });
      expect(await placed(store, open(store, settings))).toMatchObject({ dimension: 12 });
      await say(store, ['Boats'], { from: 10 });
      // Another process.
      const other = open(store, settings);
      expect(await other.embeddings.report(store, PROJECT)).toMatchObject({ state: 'partial' });
      expect(await placed(store, other)).toMatchObject({ state: 'ready', dimension: 12 });
      expect(server.asks.map((ask) => ask.texts)).toEqual([SAID.toReversed(), ['Boats']]);
      expect((await other.search('vessel'))[0]).toBe(uuid(3));
      const rows = await store.read((db) => db.selectFrom('embedders').selectAll().execute());
      expect(rows).toMatchObject([{ service: 'voyage', model: 'voyage-code-3', dimension: 12, failures: 0 }]);
      expect(JSON.stringify(rows)).not.toContain(EMBEDDING_KEY);
    });

    it('that is replaced answers until all turns are placed by the new one', async () => {
      const [store, server] = [await openStore(), await useServer()];
      await say(store, SAID);
      expect(await placed(store, open(store, settingsFor(server, 'ollama')))).toMatchObject({
        state: 'ready',
      });
      server.misbehave(({ model, texts }) => (model === 'all-minilm' && texts.length > 1 ? 'hang' : null));
      const next = open(store, settingsFor(server, 'ollama', { model: 'all-minilm' }));
      expect((await next.search('car'))[0]).toBe(uuid(0));
      expect(server.asks).toContainEqual(
        expect.objectContaining({ model: 'nomic-embed-text', texts: ['car'] }),
      );
      expect(await next.embeddings.report(store, PROJECT)).toMatchObject({
        ...{ model: 'all-minilm', state: 'replaced', dimension: null, reason: null },
      });
      server.misbehave(null);
      // That process was killed: its lease ends.
      await store.tx('test', (db) =>
        db
          .updateTable('embedder_projects')
          .set({ lease_until: at(0) })
          .execute(),
      );
      const last = open(store, settingsFor(server, 'ollama', { model: 'all-minilm' }));
      expect(await placed(store, last)).toMatchObject({ state: 'ready', dimension: 8 });
      expect((await last.search('car'))[0]).toBe(uuid(0));
      expect(server.asks.at(-1)).toMatchObject({ model: 'all-minilm' });
      const kept = await store.read((db) => db.selectFrom('turn_vectors').select('bytes').execute());
      expect(kept.map(({ bytes }) => bytes.length)).toEqual([8, 8, 8, 8]);
    });

    it('of another service is asked nothing more, once the config names a new one', async () => {
      const [store, old, server] = [await openStore(), await useServer(), await useServer()];
      await say(store, SAID);
      await placed(store, open(store, settingsFor(old, 'openai')));
      const asked = old.asks.length;
      const opened = open(store, settingsFor(server, 'ollama'));
      await opened.search('car');
      expect(await placed(store, opened)).toMatchObject({ state: 'ready' });
      expect((await opened.search('car'))[0]).toBe(uuid(0));
      expect(old.asks).toHaveLength(asked);
    });

    it('whose model was exchanged under its name places everything again', async () => {
      const [store, server] = [await openStore(), await useServer()];
      await say(store, SAID);
      await placed(store, open(store, settingsFor(server, 'ollama')));
      const other = (text: string) => [text.length, 1, 1];
      server.misbehave(({ texts }) => ({ body: { embeddings: texts.map(other) } }));
      const opened = open(store, settingsFor(server, 'ollama'));
      await opened.search('vessel');
      expect(await placed(store, opened)).toMatchObject({ state: 'ready', dimension: 3 });
    });

    it.each([
      [
        'says no',
        { status: 401, body: { error: { message: 'Incorrect API key' } } },
        'HTTP 401: Incorrect API key',
      ],
      ['is asked too often', { status: 429, headers: { 'retry-after': '7' }, body: {} }, 'HTTP 429'],
      ['is out of order', { status: 503, body: '<html>' }, 'HTTP 503'],
      [
        'sends elsewhere',
        { status: 307, headers: { location: 'http://127.0.0.1:9/' }, body: '' },
        'HTTP 307',
      ],
      ['answers with half of it', { body: '{"data":[{"embed' }, 'its answer cannot be used'],
      ['answers with too few', { body: { data: [] } }, 'its answer cannot be used'],
      ['answers with no numbers', { body: { data: [{ index: 0, embedding: ['x'] }] } }, 'no numbers'],
      ['answers with nothing', { body: { data: [{ index: 0, embedding: [0, 0] }] } }, 'direction'],
      ['hangs', 'hang', 'no answer in time'],
    ] as const)('that %s leaves the answer to words, and is left alone', async (_, how, reason) => {
      const [store, server] = [await openStore(), await useServer()];
      await say(store, SAID);
      const settings = settingsFor(server, 'openai');
      await placed(store, open(store, settings));
      server.misbehave(() => how);
      const opened = open(store, settings, undefined, how === 'hang' ? 200 : undefined);
      expect(await opened.search('automobile')).toEqual([uuid(0)]);
      expect(await opened.embeddings.report(store, PROJECT)).toMatchObject({
        state: 'away',
        reason: expect.stringContaining(reason),
      });
      const asked = server.asks.length;
      // Neither this process nor another asks again at once.
      expect(await opened.search('car')).toEqual([]);
      expect(await open(store, settings).search('car')).toEqual([]);
      expect(server.asks).toHaveLength(asked);
      server.misbehave(null);
      await store.tx('test', (db) => db.updateTable('embedders').set({ retry_at: null }).execute());
      expect((await opened.search('car'))[0]).toBe(uuid(0));
    });

    it('gets no secret that Pulse knows, and a key that is not set is told', async () => {
      const [store, server] = [await openStore(), await useServer()];
      await say(store, [`The car has ${SECRET}`, '']);
      const opened = open(store, settingsFor(server, 'voyage'));
      await placed(store, opened);
      await opened.search(`vehicle ${SECRET}`);
      expect(texts(server)).toHaveLength(2);
      expect(texts(server).join()).not.toContain(SECRET);
      const keyless = open(store, settingsFor(server, 'voyage'), {});
      expect(await keyless.search('car')).toEqual([uuid(0)]);
      expect(await keyless.embeddings.report(store, PROJECT)).toMatchObject({
        ...{ state: 'away', reason: 'the variable EMBED_API_KEY is not set' },
      });
      expect(texts(server)).toHaveLength(2);
    });

    it('that refuses one text places the others', async () => {
      const [store, server] = [await openStore(), await useServer()];
      await say(store, [...SAID, 'UNSPEAKABLE', `A boat ${'very '.repeat(500)}long`]);
      const refused = { status: 400, body: { error: { message: 'maximum context length' } } };
      server.misbehave(({ texts }) =>
        texts.some((text) => text === 'UNSPEAKABLE' || text.length > 1_200) ? refused : null,
      );
      const opened = open(store, settingsFor(server, 'openai'));
      expect(await placed(store, opened)).toMatchObject({ state: 'ready' });
      expect((await opened.search('automobiles'))[0]).toBe(uuid(0));
      expect((await opened.search('harbour')).slice(0, 2).sort()).toEqual([uuid(3), uuid(5)]);
    });

    it('that refuses every text is left alone, and no turn is given up', async () => {
      const [store, server] = [await openStore(), await useServer()];
      await say(store, SAID);
      const opened = open(store, settingsFor(server, 'voyage', { model: 'voyage-none' }));
      expect(await placed(store, opened)).toMatchObject({
        ...{ state: 'away', reason: expect.stringContaining('HTTP 400: model "voyage-none" not found') },
      });
      const rows = await store.read((db) => db.selectFrom('turn_vectors').select('number').execute());
      expect(rows).toEqual([]);
    });

    it('places many in portions, and stays within a slice', async () => {
      const [store, server] = [await openStore(), await useServer()];
      await say(
        store,
        Array.from({ length: 300 }, (_, index) => `${SAID[index % 4]!} ${index}`),
      );
      const opened = open(store, settingsFor(server, 'ollama'));
      expect(await placed(store, opened)).toMatchObject({ state: 'ready' });
      expect(texts(server)).toHaveLength(300);
      expect(Math.max(...server.asks.map((ask) => ask.texts.length))).toBeLessThanOrEqual(64);
      const keys = await openSliceKeys(store);
      const slice = (await store.read((db) =>
        createSlice(db, { projectId: PROJECT, anchorId: uuid(4), keys }),
      ))!;
      const meaning = {
        embeddings: opened.embeddings,
        search: async () => [],
        state: () => 'none' as const,
        [Symbol.asyncDispose]: vi.fn(),
      };
      const found = await queryRag({ store, meaning }, { goal: 'car', projectId: PROJECT, slice });
      expect(found.map(({ turn_id }) => turn_id)).toEqual([uuid(4)]);
    });

    it('works for one process at a time', async () => {
      const [store, server] = [await openStore(), await useServer()];
      await say(store, SAID);
      const settings = settingsFor(server, 'ollama');
      await Promise.all([1, 2, 3, 4].map(() => placed(store, open(store, settings))));
      expect(texts(server)).toHaveLength(SAID.length);
    });
  });
});

describe('the settings of an embedder', () => {
  const parse = (more: object) => embedderSchema.safeParse({ service: 'openai', model: 'm', ...more });
  it('name a variable for the key, and send it over a secure line alone', () => {
    expect(parse({ keyEnv: 'OPENAI_API_KEY' }).success).toBe(true);
    expect(parse({ keyEnv: 'K', url: 'http://localhost:1234/v1/' }).data?.url).toBe(
      'http://localhost:1234/v1',
    );
    expect(parse({ url: 'http://gpu.lan:11434' }).success).toBe(true);
    for (const wrong of [
      { keyEnv: 'sk-not a name' },
      { keyEnv: 'K', url: 'http://gpu.lan:11434' },
      { url: 'https://me:secret@example.com' },
      { url: 'ftp://example.com' },
      { url: 'https://example.com/v1?key=1' },
      { model: 'a b' },
      { dimensions: 4 },
      { key: 'sk' },
    ])
      expect(parse(wrong).success, JSON.stringify(wrong)).toBe(false);
  });
});
