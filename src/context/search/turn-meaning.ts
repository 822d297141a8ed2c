/** Turns by what they are about: a model of each project's words, fitted in a thread of its own. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Store } from '../../store/store.ts';
import type { TurnEmbeddings } from '../embedding/turn-embeddings.ts';
import type { FromMeaning, ToMeaning } from './meaning-messages.ts';

/** After this a search by words answers alone. */
const ANSWER_MS = 3_000;
/** The newest so many turns of a project are in its model. */
const MOST_TURNS = 20_000;
const PORTION = 2_000;
const MEMORY_MB = 512;

export interface TurnMeaning extends AsyncDisposable {
  /** By a service, where the user has configured one. */
  readonly embeddings?: TurnEmbeddings;
  /** Numbers of turns, best first; `[]` where too little is known. Does not throw. */
  search(store: Store, question: MeaningQuestion): Promise<number[]>;
}

export interface MeaningQuestion {
  projectId: string;
  terms: readonly string[];
  within: readonly number[] | null;
  limit: number;
}

interface Thread {
  worker: Worker;
  questions: Map<number, (answer: FromMeaning | null) => void>;
  /** For each project the newest turn that the thread knows. */
  known: Map<string, number>;
}

/** Starts its thread with the first question. It keeps no process alive. */
export function createTurnMeaning({
  embeddings,
  debug = () => undefined,
}: {
  /** Closed with it. */
  embeddings?: TurnEmbeddings;
  debug?(text: string): void;
} = {}): TurnMeaning {
  let thread: Thread | null = null;
  let asked = 0;
  let isClosed = false;

  function start(): Thread {
    if (thread) return thread;
    const script = new URL(`meaning-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);
    const worker = new Worker(script, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 8 },
    });
    const started: Thread = { worker, questions: new Map(), known: new Map() };
    worker.on('message', (answer: FromMeaning) => started.questions.get(answer.question)?.(answer));
    worker.on('error', (error) => debug(`The search by meaning has failed: ${error.message}`));
    worker.on('exit', () => {
      for (const settle of started.questions.values()) settle(null);
      if (thread === started) thread = null;
    });
    worker.unref();
    thread = started;
    return started;
  }

  return {
    ...(embeddings ? { embeddings } : {}),
    async search(store, { projectId, terms, within, limit }) {
      if (isClosed || terms.length === 0) return [];
      try {
        const current = start();
        await teach(current, store, projectId);
        return await ask(current, { kind: 'ask', question: asked++, projectId, terms, within, limit });
      } catch (error) {
        debug(`The search by meaning has failed: ${error instanceof Error ? error.message : error}`);
        return [];
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await embeddings?.[Symbol.asyncDispose]();
      await thread?.worker.terminate();
    },
  };
}

/** What the thread does not know yet. */
async function teach(thread: Thread, store: Store, projectId: string): Promise<void> {
  const { known, worker } = thread;
  let after = known.get(projectId) ?? (await beginAfter(store, projectId));
  for (;;) {
    const rows = await store.read(
      (db) =>
        db
          .selectFrom('turn_terms')
          .select(['turn_number', 'terms'])
          .where('project_id', '=', projectId)
          .where('turn_number', '>', after)
          .orderBy('turn_number')
          .limit(PORTION)
          .execute(),
      { hasNoSnapshot: true },
    );
    const turns = rows.map(({ turn_number, terms }) => ({ number: Number(turn_number), terms }));
    after = turns.at(-1)?.number ?? after;
    known.set(projectId, after);
    if (turns.length > 0) worker.postMessage({ kind: 'add', projectId, turns } satisfies ToMeaning);
    if (turns.length < PORTION) return;
  }
}

async function beginAfter(store: Store, projectId: string): Promise<number> {
  const row = await store.read(
    (db) =>
      db
        .selectFrom('turn_terms')
        .select('turn_number')
        .where('project_id', '=', projectId)
        .orderBy('turn_number', 'desc')
        .offset(MOST_TURNS)
        .limit(1)
        .executeTakeFirst(),
    { hasNoSnapshot: true },
  );
  return Number(row?.turn_number ?? 0);
}

async function ask({ worker, questions }: Thread, message: Extract<ToMeaning, { kind: 'ask' }>) {
  const answered = Promise.withResolvers<FromMeaning | null>();
  questions.set(message.question, answered.resolve);
  const late = setTimeout(() => answered.resolve(null), ANSWER_MS);
  worker.postMessage(message);
  const answer = await answered.promise;
  clearTimeout(late);
  questions.delete(message.question);
  return answer?.numbers ?? [];
}
