/**
 * The beads of a project in memory, as `next` needs them. It is brought up to date by what has changed since, so that it
 * costs little right after another process has written; nothing is ever asked of it before that.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db, Store } from '../../../store/store.ts';
import { withBeadTables } from '../tables.ts';
import { EPIC } from './bead.ts';
import { GraphMetrics } from './metrics.ts';
import { type ProjectLock, readRevision } from './rows.ts';

export interface BeadNode {
  id: string;
  /** Its number in `metrics`. */
  number: number;
  kind: number;
  priority: number;
  epic: string | null;
  created_ms: number;
}

/** What a bead can be for `next`; the highest could be it, once it waits for nothing. */
export const KIND = { closed: 0, epic: 1, unfit: 2, fit: 3 } as const;

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
  while (revision > graph.revision) {
    const after = graph.revision;
    const rows = await readChanged(db, projectId, after);
    // Another question may have been quicker: these rows are what changed since then, and no longer since now.
    if (graph.revision === after) graph.apply(rows, revision);
  }
  graph.count();
  return use(graph);
}

type GraphRow = Omit<BeadNode, 'number'> & { needs: string };

/** As few and as short values as will do: there may be a hundred thousand rows. */
const KIND_OF_ROW: RawBuilder<number> = sql`CASE
  WHEN status = 'closed' THEN ${sql.lit(KIND.closed)}
  WHEN type = ${sql.lit(EPIC)} THEN ${sql.lit(KIND.epic)}
  WHEN status = 'open' AND missing = '' THEN ${sql.lit(KIND.fit)}
  ELSE ${sql.lit(KIND.unfit)} END`;

/** The first time, beads that are closed are left out, except those that others belong to. */
async function readChanged(db: Db, projectId: string, after: number): Promise<GraphRow[]> {
  const query = withBeadTables(db)
    .selectFrom('beads')
    .select(['id', 'priority', 'epic', 'created_ms', 'needs', KIND_OF_ROW.as('kind')])
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
    this.revision = revision;
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
    node.kind = row.kind;
    node.priority = row.priority;
    node.epic = row.epic;
    node.created_ms = row.created_ms;
    const isOpen = row.kind !== KIND.closed;
    // What is closed waits for nothing: its needs are read again when it is opened.
    const needs = isOpen && row.needs !== '' ? row.needs.split(' ').map((id) => this.#node(id).number) : NONE;
    this.metrics.set(node.number, { isOpen, needs });
  }

  #node(id: string): BeadNode {
    const known = this.#byId.get(id);
    if (known) return known;
    const number = this.metrics.add();
    const made: BeadNode = {
      id,
      number,
      kind: KIND.closed,
      priority: 0,
      epic: null,
      created_ms: 0,
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
