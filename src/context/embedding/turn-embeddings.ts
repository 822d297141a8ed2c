/**
 * Turns by what they mean, as a service that the user has configured places them. An answer never depends on it: where
 * the service does not answer, words answer alone, and what is left is placed in the background.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbedderSettings } from '../../domain/embedder.ts';
import type { Store } from '../../store/store.ts';
import {
  type Coverage,
  type EmbedderRow,
  listEmbedders,
  setDimension,
  turnCoverage,
  vectorCoverage,
} from '../../store/turn-vectors.ts';
import { createEmbedder, EmbeddingError, urlOf } from './embedder.ts';
import { createLoadedVectors, type LoadedVectors } from './loaded-vectors.ts';
import { embedderId, noteFailure, placeTurns } from './place-turns.ts';

const QUESTION_MS = 1_500;
const MOST_LETTERS = 4_000;
const MOST_REMEMBERED = 200;
const SETTINGS_MS = 5_000;
const CLOSING_MS = 1_000;

/**
 * `ready`: all turns have their places. `partial`: some have none yet. `replaced`: the model before answers until all
 * turns have their places by the new one. `away`: the service does not answer, so that words answer alone.
 */
export type EmbedderState = 'ready' | 'partial' | 'replaced' | 'away';

export interface EmbedderReport {
  service: string;
  model: string;
  /** Of its vectors; `null`: it has not answered yet. */
  dimension: number | null;
  state: EmbedderState;
  /** Why it is away. */
  reason: string | null;
}

export interface EmbeddedQuestion {
  projectId: string;
  goal: string;
  /** Only these turns, by their numbers; `null`: all of the project. */
  within: readonly number[] | null;
  limit: number;
}

export interface TurnEmbeddings extends AsyncDisposable {
  /** Numbers of turns, best first; `[]` where no embedder is configured or it is away. Does not throw. */
  search(store: Store, question: EmbeddedQuestion): Promise<number[]>;
  /** How much it knows of the project; `null`: none is configured. */
  report(store: Store, projectId: string): Promise<EmbedderReport | null>;
  /** Waits until the project's turns have their places, but no longer. Does not throw. */
  catchUp(store: Store, projectId: string, limitMs: number): Promise<void>;
}

export interface TurnEmbeddingsOptions {
  /** What the user's own config says; `null`: nothing. */
  settings(): Promise<EmbedderSettings | null>;
  environment: NodeJS.ProcessEnv;
  redact(text: string): string;
  debug?(text: string): void;
  /** A question waits so long for the service, once; then the service is left alone for a while. */
  questionMs?: number;
}

/** What all projects share. */
interface Means {
  options: Required<TurnEmbeddingsOptions>;
  closing: AbortController;
  /** Of this process. */
  owner: string;
  loaded: LoadedVectors;
  /** The placing that is under way, by embedder and project. */
  running: Map<string, Promise<void>>;
  again: Set<NodeJS.Timeout>;
  /** Questions are asked again and again: a session's goal with each of its briefs. */
  remembered: Map<string, Float32Array>;
  read: { at: number; settings: Promise<EmbedderSettings | null> } | null;
}

/** What is known of a project when a question comes. */
interface Known {
  settings: EmbedderSettings;
  id: string;
  /** The configured one; `null`: it has never been asked. */
  current: EmbedderRow | null;
  /** The one that has most of the project's turns: of equals the configured one. `null`: none has any. */
  serving: { row: EmbedderRow; count: number } | null;
  isDue: boolean;
}

export function createTurnEmbeddings(options: TurnEmbeddingsOptions): TurnEmbeddings {
  const means: Means = {
    ...{
      options: { debug: () => undefined, questionMs: QUESTION_MS, ...options },
      closing: new AbortController(),
    },
    ...{ owner: randomBytes(8).toString('hex'), loaded: createLoadedVectors(), running: new Map() },
    ...{ again: new Set(), remembered: new Map(), read: null },
  };
  return {
    search: (store, question) => search(means, store, question),
    report: (store, projectId) => report(means, store, projectId),
    async catchUp(store, projectId, limitMs) {
      const late = new AbortController();
      const waited = delay(limitMs, undefined, { signal: late.signal, ref: false }).catch(() => undefined);
      await Promise.race([catchUp(means, store, projectId), waited]);
      late.abort();
    },
    async [Symbol.asyncDispose]() {
      means.closing.abort();
      for (const timer of means.again) clearTimeout(timer);
      // A store that is away is not waited for.
      const late = delay(CLOSING_MS, undefined, { ref: false });
      await Promise.race([Promise.all(means.running.values()), late]);
    },
  };
}

async function search(means: Means, store: Store, question: EmbeddedQuestion): Promise<number[]> {
  const { projectId, goal, within, limit } = question;
  try {
    const known = goal.trim() === '' ? null : await lookUp(means, store, projectId);
    if (!known) return [];
    if (known.isDue && !known.current?.isLeftAlone) void begin(means, store, { projectId, known });
    if (!known.serving || known.serving.row.isLeftAlone) return [];
    const asked = await placeQuestion(means, store, { known, question });
    if (!asked) return [];
    const { row, count } = known.serving;
    const vectors = await means.loaded.of(store, { embedder: row, projectId, count });
    return vectors.search(asked, within, limit);
  } catch (error) {
    means.options.debug(`The search by an embedder has failed: ${(error as Error).message}`);
    return [];
  }
}

async function report(means: Means, store: Store, projectId: string): Promise<EmbedderReport | null> {
  const known = await lookUp(means, store, projectId);
  if (!known) return null;
  const { settings, current, serving, isDue, id } = known;
  const { service, model, keyEnv } = settings;
  const isKeyless = keyEnv !== undefined && !means.options.environment[keyEnv];
  const silent = [serving?.row, current].find((row) => row?.isLeftAlone);
  const told = silent ? (silent.error ?? 'no answer') : null;
  const reason = isKeyless ? `the variable ${keyEnv} is not set` : told;
  const isAway = isKeyless || (serving?.row ?? current)?.isLeftAlone === true;
  const isOld = serving !== null && serving.row.id !== id;
  const state = isAway ? 'away' : isOld ? 'replaced' : isDue ? 'partial' : 'ready';
  return { service, model, dimension: current?.dimension ?? null, state, reason };
}

async function catchUp(means: Means, store: Store, projectId: string): Promise<void> {
  try {
    const known = await lookUp(means, store, projectId);
    if (known?.isDue && !known.current?.isLeftAlone) await begin(means, store, { projectId, known });
  } catch (error) {
    means.options.debug(`Turns could not be placed: ${(error as Error).message}`);
  }
}

function settingsNow(means: Means): Promise<EmbedderSettings | null> {
  const { options, read, closing } = means;
  const now = performance.now();
  if (closing.signal.aborted) return Promise.resolve(null);
  if (read && now - read.at < SETTINGS_MS) return read.settings;
  const settings = options.settings().catch((error: Error) => {
    options.debug(`The embedder's settings cannot be read: ${error.message}`);
    return null;
  });
  means.read = { at: now, settings };
  return settings;
}

async function lookUp(means: Means, store: Store, projectId: string): Promise<Known | null> {
  const settings = await settingsNow(means);
  if (!settings) return null;
  const id = embedderId(settings);
  return store.read(
    async (db) => {
      const turns = await turnCoverage(db, projectId);
      const rows = await listEmbedders(db, { service: settings.service, url: urlOf(settings) });
      const current = rows.find((row) => row.id === id) ?? null;
      let serving: Known['serving'] = null;
      let own: Coverage = { count: 0, newest: 0 };
      for (const row of current ? [current, ...rows.filter((each) => each !== current)] : rows) {
        const coverage = await vectorCoverage(db, { embedderId: row.id, projectId });
        if (row === current) own = coverage;
        if (coverage.count > (serving?.count ?? 0)) serving = { row, count: coverage.count };
      }
      const isDue = turns.count > 0 && (own.count < turns.count || own.newest < turns.newest);
      return { settings, id, current, serving, isDue };
    },
    { hasNoSnapshot: true },
  );
}

/** In the background, one at a time for a project. */
function begin(
  means: Means,
  store: Store,
  { projectId, known: { settings, id, current } }: { projectId: string; known: Known },
): Promise<void> {
  const { options, owner, closing, running } = means;
  const key = `${id}\n${projectId}`;
  const before = running.get(key);
  if (before) return before;
  const embedder = createEmbedder(settings, options.environment);
  const { redact, debug } = options;
  const work = placeTurns({ store, embedder, projectId, owner, redact, signal: closing.signal })
    .catch(async (error: unknown) => {
      const waitMs = await noteFault(means, store, { id, failures: current?.failures ?? 0, error });
      if (waitMs !== null) later(means, { store, projectId, waitMs });
    })
    .catch((error: Error) => debug(`Turns could not be placed: ${error.message}`))
    .finally(() => running.delete(key));
  running.set(key, work);
  return work;
}

function later(
  means: Means,
  { store, projectId, waitMs }: { store: Store; projectId: string; waitMs: number },
): void {
  const { again, closing } = means;
  if (closing.signal.aborted) return;
  const timer = setTimeout(() => {
    again.delete(timer);
    void catchUp(means, store, projectId);
  }, waitMs).unref();
  again.add(timer);
}

/** How long the service is left alone; `null`: it is not the service's fault. Throws what is nobody's fault there. */
async function noteFault(
  { options: { debug, redact }, closing }: Means,
  store: Store,
  { id, failures, error }: { id: string; failures: number; error: unknown },
): Promise<number | null> {
  if (closing.signal.aborted) return null;
  if (!(error instanceof EmbeddingError)) throw error;
  debug(`The embedder has not answered: ${error.message}`);
  // Another process may have the variable.
  if (error.fault === 'keyless') return null;
  const told = new EmbeddingError(error.fault, redact(error.message), error.afterMs);
  return noteFailure(store, { id, failures, error: told });
}

/** `null`: the service does not answer, or has another model by now. */
async function placeQuestion(
  means: Means,
  store: Store,
  { known: { settings, serving }, question }: { known: Known; question: EmbeddedQuestion },
): Promise<Float32Array | null> {
  const { options, closing, remembered } = means;
  const { row } = serving!;
  const goal = options.redact(question.goal.slice(0, 2 * MOST_LETTERS).toWellFormed());
  const text = goal.slice(0, MOST_LETTERS).toWellFormed();
  const key = `${row.id}\n${row.dimension}\n${text}`;
  const before = remembered.get(key);
  if (before) return before;
  const { model, asked_dimensions } = row;
  const asked = { ...settings, model, dimensions: asked_dimensions ?? undefined };
  try {
    const [vector] = await createEmbedder(asked, options.environment).embed({
      ...{ texts: [text], kind: 'query', limitMs: options.questionMs, signal: closing.signal },
    });
    if (vector!.length === row.dimension) remember(remembered, key, vector!);
    else await store.tx('write vectors', (db) => setDimension(db, row.id, vector!.length));
    return vector!.length === row.dimension ? vector! : null;
  } catch (error) {
    await noteFault(means, store, { id: row.id, failures: row.failures, error });
    return null;
  }
}

function remember(remembered: Map<string, Float32Array>, key: string, vector: Float32Array): void {
  if (remembered.size === MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!);
  remembered.set(key, vector);
}
