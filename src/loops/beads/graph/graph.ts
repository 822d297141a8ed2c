/**
 * The beads of a project in memory, as `next` needs them. It is brought up to date by what has changed since, so that it
 * costs little right after another process has written; nothing is ever asked of it before that.
 */
import type { Selectable } from 'kysely';
import { type Db, fromJson, type Store } from '../../../store/store.ts';
import { type BeadsTable, withBeadTables } from '../tables.ts';
import { blockersOf, type Dependency, EPIC } from './bead.ts';
import { GraphMetrics } from './metrics.ts';
import { type ProjectLock, readRevision } from './rows.ts';

export interface BeadNode {
  id: string;
  /** Its number in `metrics`. */
  number: number;
  type: string;
  status: string;
  priority: number;
  epic: string | null;
  /** With a blank between; empty: none. */
  missing: string;
  worker: string | null;
  created_at: string;
  created_ms: number;
  /** Of the row that it was made of; 0: it is only named by another. */
  revision: number;
}

export interface BeadGraph {
  /** By their numbers; those that are closed, too. */
  readonly nodes: readonly BeadNode[];
  /** Counted. */
  readonly metrics: GraphMetrics;
  /** `null` where it is closed and nothing has named it. */
  numberOf(id: string): number | null;
  /** Also of beads that are closed, if it is known. */
  epicOf(id: string): string | null;
}

/**
 * Calls `use` with the graph as it is in this transaction; at once, so that nobody changes it meanwhile. Inside one that
 * holds the project's lock it is asked before the first change: what is not committed yet must not stay in memory.
 */
export async function withGraph<T>(
  store: Store,
  db: Db,
  { projectId, lock, use }: { projectId: string; lock?: ProjectLock; use: (graph: BeadGraph) => T },
): Promise<T> {
  const graph = graphOf(store, projectId);
  const revision = lock ? lock.revision - 1 : await readRevision(db, projectId);
  if (revision > graph.revision) graph.apply(await readChanged(db, projectId, graph.revision), revision);
  graph.count();
  return use(graph);
}

type GraphRow = Pick<
  Selectable<BeadsTable>,
  | 'id'
  | 'type'
  | 'status'
  | 'priority'
  | 'epic'
  | 'missing'
  | 'dependencies'
  | 'created_at'
  | 'created_ms'
  | 'revision'
  | 'claim_worker'
>;

/** The first time, beads that are closed are left out, except those that others belong to. */
async function readChanged(db: Db, projectId: string, after: number): Promise<GraphRow[]> {
  const query = withBeadTables(db)
    .selectFrom('beads')
    .select(['id', 'type', 'status', 'priority', 'epic', 'missing', 'dependencies'])
    .select(['created_at', 'created_ms', 'revision', 'claim_worker'])
    .where('project_id', '=', projectId);
  if (after > 0) return query.where('revision', '>', after).execute();
  return query.where((eb) => eb.or([eb('status', '<>', 'closed'), eb('type', '=', EPIC)])).execute();
}

class MemoryGraph implements BeadGraph {
  readonly nodes: BeadNode[] = [];
  readonly metrics = new GraphMetrics();
  readonly #byId = new Map<string, BeadNode>();
  revision = 0;
  #isCounted = true;

  apply(rows: readonly GraphRow[], revision: number): void {
    for (const row of rows) this.#applyRow(row);
    // Two may have asked at once: the older answer changes nothing that the newer one has brought.
    this.revision = Math.max(this.revision, revision);
    this.#isCounted = false;
  }

  count(): void {
    if (this.#isCounted) return;
    this.metrics.count();
    this.#isCounted = true;
  }

  numberOf(id: string): number | null {
    return this.#byId.get(id)?.number ?? null;
  }

  epicOf(id: string): string | null {
    return this.#byId.get(id)?.epic ?? null;
  }

  #applyRow(row: GraphRow): void {
    const node = this.#node(row.id);
    if (row.revision <= node.revision) return;
    const {
      type,
      status,
      priority,
      epic,
      missing,
      claim_worker: worker,
      created_at,
      created_ms,
      revision,
    } = row;
    Object.assign(node, { type, status, priority, epic, missing, worker, created_at, created_ms, revision });
    const isOpen = status !== 'closed';
    // What is closed waits for nothing: its dependencies are read again when it is opened.
    const needs = isOpen && row.dependencies !== '[]' ? this.#needs(row.dependencies) : NONE;
    this.metrics.set(node.number, { isOpen, needs });
  }

  #needs(dependencies: unknown): number[] {
    return blockersOf(fromJson<Dependency[]>(dependencies)).map((id) => this.#node(id).number);
  }

  #node(id: string): BeadNode {
    const known = this.#byId.get(id);
    if (known) return known;
    const made: BeadNode = {
      ...{ id, number: this.metrics.add(), type: '', status: 'closed', priority: 0, epic: null, missing: '' },
      ...{ worker: null, created_at: '', created_ms: 0, revision: 0 },
    };
    this.nodes.push(made);
    this.#byId.set(id, made);
    return made;
  }
}

const NONE: number[] = [];

/** So many projects of a store are kept in memory. */
const MOST_PROJECTS = 8;
const GRAPHS = new WeakMap<Store, Map<string, MemoryGraph>>();

/** The one that was used longest ago makes room. */
function graphOf(store: Store, projectId: string): MemoryGraph {
  const graphs = GRAPHS.get(store) ?? new Map<string, MemoryGraph>();
  GRAPHS.set(store, graphs);
  const graph = graphs.get(projectId) ?? new MemoryGraph();
  graphs.delete(projectId);
  graphs.set(projectId, graph);
  if (graphs.size > MOST_PROJECTS) graphs.delete(graphs.keys().next().value!);
  return graph;
}
