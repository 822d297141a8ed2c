/** Turns and their neighbours, many at a time. */
import { type RawBuilder, sql } from 'kysely';
import { type Db, isPostgres } from '../../store/store.ts';
import type { Phase } from '../turns.ts';
import type { GraphTurn, Neighbours, ReadNeighbours } from './take-turns.ts';

/** What a question looks ahead: most talks are long and thin, so that the next turns lie above and below these. */
const LEVELS = 6;
const MOST_AHEAD = 100;

interface TurnRow {
  id: string;
  parent_id: string | null;
  phase: Phase;
  salience: number;
  content_hash: string;
}

interface Row extends TurnRow {
  /** `known`: a turn whose neighbours are in the answer. */
  kind: 'known' | 'parent' | 'child' | 'sibling';
  of: string;
}

const COLUMNS = sql.raw('t.id, t.parent_id, t.phase, t.salience, t.content_hash');

export async function findGraphTurn(db: Db, projectId: string, id: string): Promise<GraphTurn | null> {
  const { rows } = await sql<TurnRow>`SELECT ${COLUMNS} FROM turns t
    WHERE t.id = ${id} AND t.project_id = ${projectId}`.execute(db);
  return rows[0] ? graphTurn(rows[0]) : null;
}

/** Answers also for turns near those that were asked for. */
export function createReadNeighbours(db: Db, projectId: string): ReadNeighbours {
  return async (turns, limits) => {
    const ids = turns.map(({ id }) => id);
    const rows = await readRows(db, { projectId, ids, ...limits });
    const known = rows.filter(({ kind }) => kind === 'known');
    const found = new Map<string, Neighbours>(
      known.map(({ id }) => [id, { parent: null, children: [], siblings: [] }]),
    );
    const below = Map.groupBy(known, ({ parent_id }) => parent_id);
    for (const row of rows) {
      if (row.kind === 'known') continue;
      const turn = graphTurn(row);
      if (row.kind === 'child') found.get(row.of)!.children.push(turn);
      else for (const { id } of below.get(row.of) ?? []) addAbove(found.get(id)!, { row, turn, id });
    }
    for (const { siblings } of found.values())
      siblings.sort((a, b) => (a.id < b.id ? -1 : 1)).splice(limits.siblings);
    return found;
  };
}

function addAbove(
  neighbours: Neighbours,
  { row, turn, id }: { row: Row; turn: GraphTurn; id: string },
): void {
  if (row.kind === 'parent') neighbours.parent = turn;
  else if (turn.id !== id) neighbours.siblings.push(turn);
}

interface Asked {
  projectId: string;
  ids: readonly string[];
  children: number;
  siblings: number;
}

/** One question. Siblings are children of the parent: one more than wanted, because the turn itself is among them. */
async function readRows(db: Db, { projectId, ids, children, siblings }: Asked): Promise<Row[]> {
  const list = isPostgres(db)
    ? sql`json_array_elements_text(${JSON.stringify(ids)}::json) AS n (value)`
    : sql`json_each(${JSON.stringify(ids)}) AS n`;
  const most = sql.lit(ids.length + MOST_AHEAD);
  // PostgreSQL makes no more of a recursive query than is asked for, and takes no limit in it.
  const bound = isPostgres(db) ? sql`` : sql`LIMIT ${most}`;
  const mine = sql`t.project_id = ${projectId}`;
  const below = isPostgres(db) ? bestBelowPostgres : bestBelowSqlite;
  const { rows } = await sql<Row>`
    WITH RECURSIVE asked (id, parent_id) AS MATERIALIZED (
      SELECT t.id, t.parent_id FROM ${list} CROSS JOIN turns t WHERE t.id = n.value AND ${mine}
    ),
    up (id, parent_id, level) AS (
      SELECT id, parent_id, 0 FROM asked
      UNION ALL
      SELECT t.id, t.parent_id, n.level + 1 FROM up n CROSS JOIN turns t
      WHERE t.id = n.parent_id AND ${mine} AND n.level < ${sql.lit(LEVELS)} ${bound}
    ),
    down (id, parent_id, level) AS (
      SELECT id, parent_id, 0 FROM asked
      UNION ALL
      SELECT t.id, t.parent_id, n.level + 1 FROM down n CROSS JOIN turns t
      WHERE t.parent_id = n.id AND ${mine} AND n.level < ${sql.lit(LEVELS)} ${bound}
    ),
    known AS MATERIALIZED (
      SELECT id, parent_id FROM (SELECT id, parent_id FROM up LIMIT ${most}) AS higher
      UNION
      SELECT id, parent_id FROM (SELECT id, parent_id FROM down LIMIT ${most}) AS lower
    ),
    above AS MATERIALIZED (SELECT DISTINCT parent_id AS id FROM known WHERE parent_id IS NOT NULL)
    SELECT 'known' AS kind, known.id AS of, known.id, known.parent_id, NULL AS phase, NULL AS salience,
      NULL AS content_hash FROM known
    UNION ALL
    SELECT 'child', n.id, ${COLUMNS} FROM known n ${below({ mine, order: 'weight DESC, id', limit: children })}
    UNION ALL
    SELECT 'sibling', n.id, ${COLUMNS} FROM above n ${below({ mine, order: 'id', limit: siblings + 1 })}
    UNION ALL
    SELECT 'parent', n.id, ${COLUMNS} FROM above n CROSS JOIN turns t WHERE t.id = n.id AND ${mine}
  `.execute(db);
  return rows;
}

interface BestBelow {
  mine: RawBuilder<unknown>;
  order: string;
  limit: number;
}

/** CROSS JOIN keeps the order: for each name its turns, not for each turn all names. */
function bestBelowSqlite({ mine, order, limit }: BestBelow): RawBuilder<unknown> {
  return sql`CROSS JOIN turns t WHERE t.number IN (${best({ mine, order, limit }, 't.number')})`;
}

function bestBelowPostgres(chosen: BestBelow): RawBuilder<unknown> {
  return sql`CROSS JOIN LATERAL (${best(chosen, 't.*')}) t`;
}

function best({ mine, order, limit }: BestBelow, what: string): RawBuilder<unknown> {
  return sql`SELECT ${sql.raw(what)} FROM turns t WHERE t.parent_id = n.id AND ${mine}
    ORDER BY ${sql.raw(order)} LIMIT ${sql.lit(limit)}`;
}

function graphTurn({ id, parent_id, phase, salience, content_hash }: TurnRow): GraphTurn {
  return { id, parentId: parent_id, phase, salience, contentHash: content_hash };
}
