/** Which bead comes next, and why: open, nothing left to wait for, all fields there, its files free; then by weight. */
import type { Conflict } from '../../../coordination/reservations/conflicts.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { Db, Store } from '../../../store/store.ts';
import { withBeadTables } from '../tables.ts';
import { type Bead, EPIC, heldPaths } from './bead.ts';
import { type BeadGraph, type BeadNode, KIND, withGraph } from './graph.ts';
import type { GraphMetrics } from './metrics.ts';
import { findBeads, getBead, type ProjectLock } from './rows.ts';
import { takeBest } from './take-best.ts';

export interface NextQuery {
  projectId: string;
  /** Only beads of this epic, and of epics within it. */
  epic?: string;
  /** Whose reservations are no obstacle. */
  agent?: string;
  /** Tried first; taken only if it could be next. */
  hint?: string;
  /** Whether to say of each bead why it is not next. */
  isExplained?: boolean;
}

export interface Chosen {
  id: string;
  priority: number;
  critical_path: number;
  pagerank: number;
  unblocks: number;
  created_at: string;
}

export interface Why {
  chosen: Chosen | null;
  skipped: { id: string; reasons: string[] }[];
}

/** One that could be next, were it not for what others have reserved. */
export interface HeldBead {
  bead: Bead;
  conflicts: readonly Conflict[];
}

export interface Next {
  bead: Bead | null;
  /** Those that would come before it, or all where there is none. */
  held: readonly HeldBead[];
  why: Why;
}

/** Of a bead's files: which of them somebody else has. Read once, for all beads. */
export type ReservedFiles = (files: readonly string[]) => readonly Conflict[];

export interface NextSource {
  store: Store;
  db: Db;
  /** Where the caller holds the project's lock. */
  lock?: ProjectLock;
  /** `null`: nobody else has reserved anything. */
  reserved: ReservedFiles | null;
}

/** So many are looked at together where files are reserved; else the first is taken. */
const AT_ONCE = 32;

/** Throws `not_found` for an epic that is none. */
export async function findNext(source: NextSource, query: NextQuery): Promise<Next> {
  const { store, db, lock, reserved } = source;
  const { projectId, epic, hint, isExplained = false } = query;
  if (epic !== undefined) await requireEpic(db, projectId, epic);
  const refused = new Map<string, string[]>();
  const held: HeldBead[] = [];
  for (;;) {
    const look = (graph: BeadGraph) =>
      lookAt(graph, { epic, hint, refused, isExplained, count: reserved ? AT_ONCE : 1 });
    const { best, waiting } = await withGraph(store, db, { projectId, lock, use: look });
    const beads = await inOrder(db, projectId, best);
    const free = beads.find((bead) => {
      const conflicts = reserved?.(heldPaths(bead)) ?? [];
      if (conflicts.length === 0) return true;
      held.push({ bead, conflicts });
      refused.set(bead.id, conflicts.map(conflictWords));
      return false;
    });
    if (!free && best.length > 0) {
      // One that is not there yet was written after this transaction began.
      for (const { id } of best) if (!refused.has(id)) refused.set(id, ['it has just been made']);
      continue;
    }
    const figures = best.find(({ id }) => id === free?.id);
    const reservedBeads = [...refused].map(([id, reasons]) => ({ id, reasons }));
    return {
      bead: free ?? null,
      held,
      why: {
        chosen: free && figures ? { ...figures, created_at: free.created_at } : null,
        skipped: isExplained ? [...reservedBeads, ...(await explain(db, projectId, waiting))] : [],
      },
    };
  }
}

function conflictWords({ path, holder, expires_at }: Conflict): string {
  return `${path} is reserved by ${holder} until ${expires_at}`;
}

/** A bead that could be next, with the figures that rank it. */
export interface Ready {
  bead: Bead;
  figures: Omit<Chosen, 'created_at'>;
}

/** All that could be next, at most so many, the best first. Throws `not_found` for an epic that is none. */
export async function rankReady(
  { store, db, reserved }: NextSource,
  { projectId, epic }: Pick<NextQuery, 'projectId' | 'epic'>,
  count: number,
): Promise<Ready[]> {
  if (epic !== undefined) await requireEpic(db, projectId, epic);
  const look = (graph: BeadGraph) => lookAt(graph, { epic, refused: new Map(), count });
  const { best } = await withGraph(store, db, { projectId, use: look });
  const beads = await inOrder(db, projectId, best);
  return beads
    .filter((bead) => (reserved?.(heldPaths(bead)) ?? []).length === 0)
    .map((bead) => ({ bead, figures: best.find(({ id }) => id === bead.id)! }));
}

/** Throws `not_found`. */
export async function requireEpic(db: Db, projectId: string, id: string): Promise<Bead> {
  const bead = await getBead(db, projectId, id);
  if (bead.type === EPIC) return bead;
  throw new PulseError('not_found', `${id} is no epic: it is of type ${bead.type}.`, {
    hint: '`pulse bead list` shows the type of each bead.',
  });
}

type Figures = Omit<Chosen, 'created_at'>;

async function inOrder(db: Db, projectId: string, best: readonly Figures[]): Promise<Bead[]> {
  const beads = await findBeads(
    db,
    projectId,
    best.map(({ id }) => id),
  );
  const byId = new Map(beads.map((bead) => [bead.id, bead]));
  return best.flatMap(({ id }) => byId.get(id) ?? []);
}

interface Look extends Pick<NextQuery, 'epic' | 'hint' | 'isExplained'> {
  count: number;
  refused: ReadonlyMap<string, unknown>;
}

/** `waiting`: those that cannot be next, each with what it waits for. */
function lookAt(graph: BeadGraph, { epic, hint, refused, isExplained, count }: Look) {
  const { nodes, metrics } = graph;
  const ready: BeadNode[] = [];
  const waiting = new Map<string, string[]>();
  for (const node of nodes) {
    if (node.kind < KIND.unfit || (epic !== undefined && !isWithin(graph, node, epic))) continue;
    if (node.kind === KIND.fit && metrics.openNeeds[node.number] === 0) {
      if (!refused.has(node.id)) ready.push(node);
    } else if (isExplained) waiting.set(node.id, openNeeds(graph, node));
  }
  const isBefore = (a: BeadNode, b: BeadNode) =>
    (a.id === hint) === (b.id === hint) ? comesBefore(metrics, a, b) : a.id === hint;
  return { best: takeBest(ready, count, isBefore).map((node) => describe(metrics, node)), waiting };
}

function openNeeds({ nodes, metrics }: BeadGraph, { number }: BeadNode): string[] {
  const open = metrics.needsOf(number).filter((need) => metrics.isOpen[need]);
  return open.map((need) => nodes[need]!.id);
}

/** Epics may lie within epics; a circle of them is never written. */
function isWithin(graph: BeadGraph, node: BeadNode, epic: string): boolean {
  for (let at = node.epic; at !== null; at = graph.epicOf(at)) if (at === epic) return true;
  return false;
}

/** Why each of them cannot be next; oldest first. */
async function explain(
  db: Db,
  projectId: string,
  waiting: ReadonlyMap<string, string[]>,
): Promise<Why['skipped']> {
  const rows = await withBeadTables(db)
    .selectFrom('beads')
    .select(['id', 'status', 'missing', 'claim_worker'])
    .where('project_id', '=', projectId)
    .where('status', '<>', 'closed')
    .orderBy('created_ms')
    .orderBy('id')
    .execute();
  return rows.flatMap((row) => {
    const needs = waiting.get(row.id);
    return needs ? [{ id: row.id, reasons: reasonsAgainst(row, needs) }] : [];
  });
}

function reasonsAgainst(
  { status, missing, claim_worker: worker }: { status: string; missing: string; claim_worker: string | null },
  needs: readonly string[],
): string[] {
  const reasons: string[] = [];
  if (status === 'in_progress') reasons.push(worker === null ? 'it is in progress' : `${worker} works on it`);
  else if (status !== 'open') reasons.push(`its status is ${status}`);
  if (needs.length > 0) reasons.push(`it waits for ${namesOf(needs)}`);
  if (missing !== '') reasons.push(`it lacks ${missing.replaceAll(' ', ', ')}`);
  return reasons;
}

const MOST_NAMES = 10;

function namesOf(ids: readonly string[]): string {
  const names = ids.slice(0, MOST_NAMES);
  const more = ids.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

/** Priority first, then how much hangs on it, then age. No two beads are alike: ids differ. */
function comesBefore({ criticalPath, rank, unblocks }: GraphMetrics, a: BeadNode, b: BeadNode): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority;
  const [one, other] = [a.number, b.number];
  if (criticalPath[one] !== criticalPath[other]) return criticalPath[one]! > criticalPath[other]!;
  if (rank[one] !== rank[other]) return rank[one]! > rank[other]!;
  if (unblocks[one] !== unblocks[other]) return unblocks[one]! > unblocks[other]!;
  if (a.created_ms !== b.created_ms) return a.created_ms < b.created_ms;
  return a.id < b.id;
}

function describe({ criticalPath, rank, unblocks }: GraphMetrics, node: BeadNode): Figures {
  const { id, number, priority } = node;
  return {
    id,
    priority,
    critical_path: criticalPath[number]!,
    pagerank: rank[number]!,
    unblocks: unblocks[number]!,
  };
}
