/** Turns by what they are about: a model of each project's words, fitted in a thread of its own. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Store } from '../../store/store.ts';
import type { TurnEmbeddings } from '../embedding/turn-embeddings.ts';
import { threadEnvironment } from '../thread-environment.ts';
import type { FromMeaning, ToMeaning } from './meaning-messages.ts';
import type { MeaningState } from './project-meaning.ts';

/** After this words answer alone: no iteration waits longer, and no answer that was not asked to. */
const ANSWER_MS = 100;
/** A model that has answered before is worth waiting for, where its thread has ended meanwhile. */
const AGAIN_MS = 1_000;
/** A thread that nobody needs for so long ends: it holds as much memory as all the rest of a runner that waits. */
const REST_MS = 3_000;
/** The newest so many turns of a project are in its model. */
const MOST_TURNS = 20_000;
/** Read in between other work: a project may have many. */
const PORTION = 500;
const MEMORY_MB = 512;

export interface TurnMeaning extends AsyncDisposable {
  /** By a service, where the user has configured one. */
  readonly embeddings?: TurnEmbeddings;
  /** Numbers of turns, best first; `[]` where too little is known. Does not throw. */
  search(store: Store, question: MeaningQuestion): Promise<number[]>;
  /** How it was with the last answer about a project. */
  state(projectId: string): MeaningState;
}

export interface MeaningQuestion {
  projectId: string;
  terms: readonly string[];
  within: readonly number[] | null;
  limit: number;
  /** How long it may wait for a model where there is none yet (0). */
  patienceMs?: number;
}

/** What a thread is given to begin with. */
export interface MeaningThreadData {
  restMs: number;
}

interface Thread {
  worker: Worker;
  questions: Map<number, (answer: FromMeaning | null) => void>;
  /** For each project the newest turn that the thread knows. */
  known: Map<string, number>;
  /** One lesson after the other, or a turn would be taught twice. */
  lessons: Map<string, Promise<void>>;
  hasEnded: boolean;
}

/** Starts its thread with a question, and ends it some seconds after the last. It keeps no process alive. */
export function createTurnMeaning({
  embeddings,
  debug = () => undefined,
  restMs = REST_MS,
}: {
  /** Closed with it. */
  embeddings?: TurnEmbeddings;
  debug?(text: string): void;
  restMs?: number;
} = {}): TurnMeaning {
  let thread: Thread | null = null;
  const states = new Map<string, MeaningState>();
  let asked = 0;
  let isClosed = false;

  function start(): Thread {
    if (thread) return thread;
    const script = new URL(`meaning-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);
    const worker = new Worker(script, {
      execArgv: [],
      env: threadEnvironment(),
      workerData: { restMs } satisfies MeaningThreadData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 8 },
    });
    const started: Thread = {
      ...{ worker, questions: new Map(), known: new Map() },
      ...{ lessons: new Map(), hasEnded: false },
    };
    worker.on('message', (answer: FromMeaning) => started.questions.get(answer.question)?.(answer));
    worker.on('error', (error) => debug(`The search by meaning has failed: ${error.message}`));
    worker.on('exit', () => {
      started.hasEnded = true;
      for (const settle of started.questions.values()) settle(null);
      if (thread === started) thread = null;
    });
    worker.unref();
    thread = started;
    return started;
  }

  return {
    ...(embeddings ? { embeddings } : {}),
    async search(store, { patienceMs = 0, ...question }) {
      const { projectId, terms } = question;
      if (isClosed || terms.length === 0) return [];
      try {
        const isAgain = thread === null && states.get(projectId) === 'ready';
        const mostMs = Math.max(ANSWER_MS, patienceMs, isAgain ? AGAIN_MS : 0);
        const isPatient = patienceMs > 0 || isAgain;
        const ask = { kind: 'ask', question: asked++, ...question, isPatient } as const;
        const current = start();
        const answer = await within(teachAndAsk(current, store, ask), mostMs);
        current.questions.delete(ask.question);
        states.set(projectId, answer?.state ?? 'learning');
        return answer?.numbers ?? [];
      } catch (error) {
        debug(`The search by meaning has failed: ${error instanceof Error ? error.message : error}`);
        return [];
      }
    },
    state: (projectId) => states.get(projectId) ?? 'none',
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await embeddings?.[Symbol.asyncDispose]();
      if (!thread) return;
      // Nobody reads the store for it now.
      thread.hasEnded = true;
      await Promise.allSettled(thread.lessons.values());
      await thread.worker.terminate();
    },
  };
}

/** `null`: the thread has ended, or the question was given up. */
async function teachAndAsk(
  thread: Thread,
  store: Store,
  ask: Extract<ToMeaning, { kind: 'ask' }>,
): Promise<FromMeaning | null> {
  const { questions, worker } = thread;
  const answered = Promise.withResolvers<FromMeaning | null>();
  questions.set(ask.question, answered.resolve);
  await teachNext(thread, store, ask.projectId);
  // Given up meanwhile: the thread would work for nobody.
  if (!questions.has(ask.question)) return null;
  worker.postMessage(ask satisfies ToMeaning);
  return answered.promise;
}

function teachNext(thread: Thread, store: Store, projectId: string): Promise<void> {
  const { lessons } = thread;
  const before = lessons.get(projectId) ?? Promise.resolve();
  const lesson = before.catch(() => undefined).then(() => teach(thread, store, projectId));
  lessons.set(projectId, lesson);
  return lesson;
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(late.resolve, ms, null);
  // What comes too late is nobody's failure.
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** What the thread does not know yet. */
async function teach(thread: Thread, store: Store, projectId: string): Promise<void> {
  const { known, worker } = thread;
  let after = known.get(projectId) ?? (await beginAfter(store, projectId));
  let hasBegun = false;
  while (!thread.hasEnded) {
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
    const hasMore = turns.length === PORTION;
    if (turns.length > 0 || hasBegun)
      worker.postMessage({ kind: 'add', projectId, turns, hasMore } satisfies ToMeaning);
    if (!hasMore) return;
    hasBegun = true;
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
