/** What an iteration starts from: its anchor, the slice around it, and the turns of the slice that help with the goal. */
import type { Store } from '../store/store.ts';
import { findGoalTurn, findTurn, findTurns, newestTurn } from '../store/turns.ts';
import { type Anchor, resolveAnchor } from './anchors.ts';
import { queryRag } from './search/query-rag.ts';
import type { TurnMeaning } from './search/turn-meaning.ts';
import { createSlice, type Slice } from './slice/slice.ts';
import { openSliceKeys } from './slice/slice-keys.ts';
import { type Turn, turnOf } from './turns.ts';

/** More turns than this are for the tools. */
const MOST_TURNS = 8;

export interface ContextMeans {
  store: Store;
  /** Without it words answer alone. */
  meaning?: TurnMeaning;
}

export interface ContextRequest {
  goal: string;
  projectId: string;
  sessionId: string;
  /** The hint of the iteration before, and the turn that the session was given. */
  chained: string | null;
  explicit: string | null;
  /** Whether the turns are wanted, and not the anchor alone. */
  isPrefetched: boolean;
}

export interface IterationContext {
  anchor: Anchor;
  /** `null`: there is no anchor. */
  slice: Slice | null;
  /** Best first, without the anchor. */
  turns: Turn[];
}

export async function gatherContext(means: ContextMeans, request: ContextRequest): Promise<IterationContext> {
  const { store } = means;
  const { goal, projectId, sessionId } = request;
  const ownGoal = await store.read((db) => findGoalTurn(db, sessionId), { hasNoSnapshot: true });
  const find = async (limit: number, slice: Slice | null, except: readonly string[]) => {
    const found = await queryRag(means, { goal, projectId, slice, except, limit });
    return found.map(({ turn_id }) => turn_id);
  };
  const byId = async (id: string) => {
    const row = await store.read((db) => findTurn(db, projectId, id), { hasNoSnapshot: true });
    return row && turnOf(row);
  };
  const newest = async (except: readonly string[]) => {
    const row = await store.read((db) => newestTurn(db, { projectId, except }), { hasNoSnapshot: true });
    return row && turnOf(row);
  };
  const anchor = await resolveAnchor({
    ...{ ownGoal, chained: request.chained, explicit: request.explicit, goal, projectId },
    lookup: {
      byId,
      mostRecent: (_, except) => newest(except),
      async semantic() {
        const except = ownGoal === null ? [] : [ownGoal];
        // A project in which nothing else was said is not searched.
        if (!(await newest(except))) return null;
        const [first] = await find(1, null, except);
        return first === undefined ? null : byId(first);
      },
    },
    nowMs: () => performance.now(),
  });
  if (!anchor.turn) return { anchor, slice: null, turns: [] };
  const anchorId = anchor.turn.id;
  const keys = await openSliceKeys(store);
  const slice = await store.read((db) => createSlice(db, { projectId, anchorId, keys }));
  if (!slice || !request.isPrefetched) return { anchor, slice, turns: [] };
  const except = [anchorId, ...(ownGoal === null ? [] : [ownGoal])];
  const ids = await find(MOST_TURNS, slice, except);
  const rows = await store.read((db) => findTurns(db, projectId, ids, { isSaid: true }));
  const byRank = rows.map(turnOf).sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
  return { anchor, slice, turns: byRank.filter((turn) => !isTold(turn, sessionId)) };
}

/** What a person says to a session is quoted when it is said, and not again. */
export function isTold({ role, sessionId }: Turn, own: string): boolean {
  return role === 'user' && sessionId === own;
}
