/** Gives a project's turns their vectors, a portion at a time. A crash loses the portion that was under way. */
import { createHash } from 'node:crypto';
import type { EmbedderSettings } from '../../domain/embedder.ts';
import type { Store } from '../../store/store.ts';
import {
  dropOldVectors,
  insertEmbedder,
  insertVectors,
  leaseProject,
  noteEmbedderAnswer,
  noteEmbedderFailure,
  releaseProject,
  turnsWithoutVector,
  type WrittenVector,
} from '../../store/turn-vectors.ts';
import type { NumberedTurn } from '../../store/turns.ts';
import { type Embedder, EmbeddingError, urlOf } from './embedder.ts';

const PORTION = 64;
/** Of a portion together: the smallest limit of a service is 120,000 tokens. */
const MOST_LETTERS = 100_000;
/** What a text says first tells it from others well enough, and models take no more than a few thousand tokens. */
const LETTERS_OF_A_TEXT = 6_000;
/** Of a text that the service does not take in that length. */
const LETTERS_OF_A_SHORT = 1_000;
const ANSWER_MS = 60_000;
const LEASE_MS = 180_000;
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 15 * 60_000;
const LONGEST_ASKED_MS = 60 * 60_000;

export interface Placing {
  store: Store;
  embedder: Embedder;
  projectId: string;
  /** Of this process. */
  owner: string;
  redact(text: string): string;
  signal: AbortSignal;
}

/** The same for the same model of the same service, on each host. */
export function embedderId(settings: EmbedderSettings): string {
  const { service, model, dimensions = null } = settings;
  const named = JSON.stringify([service, urlOf(settings), model, dimensions]);
  return createHash('sha256').update(named).digest('hex').slice(0, 16);
}

/** Until there are none left, or another process is at work. Throws `EmbeddingError`, and what the store throws. */
export async function placeTurns(placing: Placing): Promise<void> {
  const { store, embedder, projectId, owner, signal } = placing;
  const { service, model, dimensions: askedDimensions = null } = embedder.settings;
  const id = embedderId(embedder.settings);
  const lease = { embedderId: id, projectId, owner, leaseMs: LEASE_MS };
  const isMine = await store.tx('lease embedding', async (db) => {
    await insertEmbedder(db, { id, service, url: urlOf(embedder.settings), model, askedDimensions });
    return leaseProject(db, lease);
  });
  if (!isMine) return;
  try {
    let below = Number.MAX_SAFE_INTEGER;
    while (!signal.aborted) {
      const turns = await store.read(
        (db) => turnsWithoutVector(db, { embedderId: id, projectId, below, limit: PORTION }),
        { hasNoSnapshot: true },
      );
      if (turns.length === 0) {
        await store.tx('drop vectors', (db) => dropOldVectors(db, { embedderId: id, projectId }));
        return;
      }
      const portion = withinBounds(turns.map((turn) => shortened(turn, placing.redact)));
      below = portion.at(-1)!.number;
      const { dimension, vectors } = await placePortion(placing, portion);
      const isStillMine = await store.tx('write vectors', async (db) => {
        if (!(await leaseProject(db, lease))) return false;
        await insertVectors(db, { embedderId: id, projectId, dimension, vectors });
        await noteEmbedderAnswer(db, id);
        return true;
      });
      if (!isStillMine) return;
    }
  } finally {
    await store.tx('release embedding', (db) => releaseProject(db, lease));
  }
}

/** What another process should know of a failure too: how long the service is to be left alone. */
export async function noteFailure(
  store: Store,
  { id, failures, error }: { id: string; failures: number; error: EmbeddingError },
): Promise<number> {
  const usual = error.fault === 'away' ? FIRST_WAIT_MS * 2 ** Math.min(failures, 10) : LONGEST_WAIT_MS;
  const asked = Math.min(error.afterMs ?? 0, LONGEST_ASKED_MS);
  const afterMs = Math.max(Math.min(usual, LONGEST_WAIT_MS), asked);
  await store.tx('embedding failed', (db) => noteEmbedderFailure(db, { id, error: error.message, afterMs }));
  return afterMs;
}

interface ShortTurn {
  number: number;
  text: string;
}

/** A secret that stands where the text is cut is hidden as well: more than is sent is redacted. */
function shortened({ number, content }: NumberedTurn, redact: (text: string) => string): ShortTurn {
  const text = redact(content.slice(0, 2 * LETTERS_OF_A_TEXT).toWellFormed());
  return { number, text: text.slice(0, LETTERS_OF_A_TEXT).toWellFormed().trim() };
}

function withinBounds(turns: readonly ShortTurn[]): ShortTurn[] {
  let letters = 0;
  const end = turns.findIndex(({ text }, index) => {
    letters += text.length;
    return letters > MOST_LETTERS && index > 0;
  });
  return end === -1 ? [...turns] : turns.slice(0, end);
}

async function placePortion(
  placing: Placing,
  portion: readonly ShortTurn[],
): Promise<{ dimension: number | null; vectors: WrittenVector[] }> {
  const said = portion.filter(({ text }) => text !== '');
  const placed = said.length === 0 ? [] : await placeAll(placing, said);
  const dimension = placed.find(({ vector }) => vector)?.vector?.length ?? null;
  const byNumber = new Map(placed.map(({ number, vector }) => [number, vector]));
  const vectors = portion.map(({ number }) => inBytes(number, byNumber.get(number) ?? null));
  return { dimension, vectors };
}

interface PlacedTurn {
  number: number;
  /** `null`: the service does not take the text. */
  vector: Float32Array | null;
}

/** One text that the service refuses must not keep the others from their places. */
async function placeAll(placing: Placing, turns: readonly ShortTurn[]): Promise<PlacedTurn[]> {
  try {
    const vectors = await embed(
      placing,
      turns.map(({ text }) => text),
    );
    return turns.map(({ number }, index) => ({ number, vector: vectors[index]! }));
  } catch (error) {
    if (!(error instanceof EmbeddingError && error.fault === 'refused')) throw error;
    if (turns.length === 1) return [await placeRefused(placing, { turn: turns[0]!, error })];
    const middle = turns.length >> 1;
    const first = await placeAll(placing, turns.slice(0, middle));
    return [...first, ...(await placeAll(placing, turns.slice(middle)))];
  }
}

async function placeRefused(
  placing: Placing,
  { turn: { number, text }, error }: { turn: ShortTurn; error: EmbeddingError },
): Promise<PlacedTurn> {
  // A service that refuses any text refuses what is asked of it.
  const isRefused = (refused: unknown) => refused instanceof EmbeddingError && refused.fault === 'refused';
  await embed(placing, ['text']).catch((refused: unknown) => {
    throw isRefused(refused) ? new EmbeddingError('settings', error.message) : refused;
  });
  const short = text.slice(0, LETTERS_OF_A_SHORT).toWellFormed();
  const [vector = null] = await embed(placing, [short]).catch((refused: unknown) => {
    if (isRefused(refused)) return [];
    throw refused;
  });
  return { number, vector };
}

function embed({ embedder, signal }: Placing, texts: readonly string[]): Promise<Float32Array[]> {
  return embedder.embed({ texts, kind: 'document', limitMs: ANSWER_MS, signal });
}

function inBytes(turnNumber: number, vector: Float32Array | null): WrittenVector {
  if (!vector) return { turnNumber, scale: 0, bytes: new Uint8Array(0) };
  let largest = 0;
  for (const part of vector) largest = Math.max(largest, Math.abs(part));
  const scale = largest / 127;
  const bytes = Int8Array.from(vector, (part) => Math.round(part / scale));
  return { turnNumber, scale, bytes: new Uint8Array(bytes.buffer) };
}
