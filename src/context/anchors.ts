/** Finds the turn where an iteration's context starts (docs/protocol/context.md, Anchors). */
import type { Turn } from './turns.ts';

export type AnchorStrategy = 'chained' | 'explicit' | 'semantic' | 'temporal';

/** What resolution asks of a store. `semantic` is missing where nothing is indexed. */
export interface AnchorLookup {
  byId(id: string): Promise<Turn | null>;
  mostRecent(projectId: string, except: readonly string[]): Promise<Turn | null>;
  semantic?(goal: string, projectId: string): Promise<Turn | null>;
}

export interface AnchorRequest {
  /** The previous iteration's `anchor_hint_next`. */
  chained: string | null;
  /** The session's `anchor_turn_id`. */
  explicit: string | null;
  /** The session's own goal turn: the brief says it already, so that it is never the anchor. */
  ownGoal: string | null;
  goal: string;
  projectId: string;
  lookup: AnchorLookup;
  nowMs: () => number;
}

export interface Anchor {
  /** `null`: the project has no turn at all, and there is no slice. */
  strategy: AnchorStrategy | null;
  turn: Turn | null;
  resolutionMs: number;
  salience: number | null;
  depth: number | null;
  /** Hints that name no turn of this project, in the order they were tried. */
  invalid: { strategy: 'chained' | 'explicit'; turnId: string }[];
}

/** A turn of another project is as invalid as none: its content must not leak. Errors of the lookup are the caller's. */
export async function resolveAnchor(request: AnchorRequest): Promise<Anchor> {
  const { goal, projectId, lookup, nowMs } = request;
  const startMs = nowMs();
  const invalid: Anchor['invalid'] = [];
  const settle = (strategy: AnchorStrategy | null, turn: Turn | null): Anchor => ({
    strategy,
    turn,
    resolutionMs: Math.max(0, Math.round(nowMs() - startMs)),
    salience: turn?.salience ?? null,
    depth: turn?.depth ?? null,
    invalid,
  });
  for (const strategy of ['chained', 'explicit'] as const) {
    const turnId = request[strategy];
    if (turnId === null) continue;
    const turn = await lookup.byId(turnId);
    if (turn?.projectId === projectId && turn.id !== request.ownGoal) return settle(strategy, turn);
    invalid.push({ strategy, turnId });
  }
  const similar = await lookup.semantic?.(goal, projectId);
  if (similar) return settle('semantic', similar);
  const newest = await lookup.mostRecent(projectId, request.ownGoal === null ? [] : [request.ownGoal]);
  return newest ? settle('temporal', newest) : settle(null, null);
}
