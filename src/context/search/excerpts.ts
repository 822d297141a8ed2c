/** Found turns with what a reader needs to choose among them. */
import { findTurns } from '../../store/turns.ts';
import type { ContextMeans } from '../iteration-context.ts';
import { type FoundTurn, queryRag } from './query-rag.ts';

const EXCERPT = 280;
const MOST_ASKED = 10_000;

export interface SearchResult extends FoundTurn {
  role: string;
  phase: string;
  created_at: string;
  excerpt: string;
}

export interface ExcerptQuestion {
  query: string;
  projectId: string;
  limit?: number;
  patienceMs?: number;
  redact(text: string): string;
}

/** Best first; `[]` for nothing. */
export async function searchExcerpts(
  means: ContextMeans,
  { query, projectId, limit, patienceMs, redact }: ExcerptQuestion,
): Promise<SearchResult[]> {
  const goal = query.slice(0, MOST_ASKED).toWellFormed();
  if (goal.trim() === '') return [];
  const found = await queryRag(means, { goal, projectId, slice: null, limit, patienceMs });
  const ids = found.map(({ turn_id }) => turn_id);
  const turns = await means.store.read((db) => findTurns(db, projectId, ids));
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  return found.flatMap((each) => {
    const turn = byId.get(each.turn_id);
    if (!turn) return [];
    const { role, phase, created_at } = turn;
    return [{ ...each, role, phase, created_at, excerpt: excerptOf(redact(turn.content)) }];
  });
}

function excerptOf(content: string): string {
  const line = content.replace(/\s+/g, ' ').trim();
  return line.length <= EXCERPT ? line : `${line.slice(0, EXCERPT).toWellFormed()} …`;
}
