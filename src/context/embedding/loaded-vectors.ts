/** The vectors of the projects that were asked last, in memory. */
import type { Store } from '../../store/store.ts';
import { vectorsAfter } from '../../store/turn-vectors.ts';
import { createVectorPlaces, type VectorPlaces } from '../code-index/vector-places.ts';

const MOST_PROJECTS = 4;
const PORTION = 2_000;

export interface ProjectVectors {
  /** Numbers of turns, best first. */
  search(asked: Float32Array, within: readonly number[] | null, limit: number): number[];
}

export interface WantedVectors {
  embedder: { id: string; dimension: number | null };
  projectId: string;
  /** How many there are by now. */
  count: number;
}

export interface LoadedVectors {
  of(store: Store, wanted: WantedVectors): Promise<ProjectVectors>;
}

interface Loaded extends ProjectVectors {
  /** As many as were read, with those that have no place. */
  count: number;
  read(store: Store, wanted: WantedVectors): Promise<void>;
}

export function createLoadedVectors(): LoadedVectors {
  const projects = new Map<string, Loaded>();
  return {
    async of(store, wanted) {
      const { embedder, projectId, count } = wanted;
      const key = [embedder.id, embedder.dimension, projectId].join('\n');
      const before = projects.get(key);
      // Fewer than before: some were dropped. Numbers can also become visible out of their order.
      const project = before && before.count <= count ? before : createLoaded(embedder.dimension ?? 0);
      if (project.count !== count) await project.read(store, wanted);
      projects.delete(key);
      if (project.count >= count) projects.set(key, project);
      for (const oldest of [...projects.keys()].slice(0, -MOST_PROJECTS)) projects.delete(oldest);
      return project;
    },
  };
}

function createLoaded(dimension: number): Loaded {
  const places: VectorPlaces = createVectorPlaces(dimension, { near: 0 });
  /** By the place's number. */
  const turns: number[] = [];
  let after = 0;
  return {
    count: 0,
    async read(store, { embedder, projectId }) {
      for (;;) {
        const rows = await store.read(
          (db) => vectorsAfter(db, { embedderId: embedder.id, projectId, after, limit: PORTION }),
          { hasNoSnapshot: true },
        );
        for (const { number, turnNumber, scale, bytes } of rows) {
          after = number;
          this.count++;
          if (bytes.length !== dimension) continue;
          const steps = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
          const vector = Float32Array.from(steps, (step) => step * scale);
          places.place(turns.push(turnNumber) - 1, vector);
        }
        if (rows.length < PORTION) return;
      }
    },
    search(asked, within, limit) {
      if (asked.length !== dimension || dimension === 0) return [];
      const allowed = within && new Set(within);
      const isWanted = allowed ? (place: number) => allowed.has(turns[place]!) : undefined;
      return places.search(asked, limit, isWanted).map(({ chunk }) => turns[chunk]!);
    },
  };
}
