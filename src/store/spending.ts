/** What sessions came to in a span of time, by day, project, loop or agent. */
import { sql } from 'kysely';
import type { FigureKey } from '../domain/figure-keys.ts';
import type { Db } from './store.ts';

export interface Sums {
  sessions: number;
  /** Each is in at most one of the five that follow. */
  complete: number;
  verified: number;
  checksChanged: number;
  unverified: number;
  nothingChanged: number;
  discarded: number;
  commits: number;
  runningMs: number;
  iterations: number;
  rejected: number;
  spentUsd: number;
  rejectedUsd: number;
  tokens: number;
}

export const NO_SUMS: Sums = {
  ...{ sessions: 0, complete: 0, verified: 0, checksChanged: 0, unverified: 0, nothingChanged: 0 },
  ...{ discarded: 0, commits: 0, runningMs: 0 },
  ...{ iterations: 0, rejected: 0, spentUsd: 0, rejectedUsd: 0, tokens: 0 },
};

export interface Span {
  from: string;
  /** Not included. */
  to: string;
  by: FigureKey;
}

type Row = { key: string } & Partial<Record<keyof Sums, number | null>>;

/** One word for each complete session, so that the counts of the words add up. */
const ENDED_AS = sql`CASE WHEN session.status <> 'complete' THEN '' WHEN session.discarded_at IS NOT NULL THEN 'discarded'
    WHEN session.nothing_changed = 1 THEN 'nothing_changed' ELSE coalesce(session.trust, '') END`;

/** Sessions by when they stopped, iterations by when they ended. */
export async function sumUp(db: Db, { from, to, by }: Span): Promise<Map<string, Sums>> {
  const ofSession = KEYS[by];
  const sessions = await sql<Row>`
    SELECT ${by === 'day' ? sql`substr(session.ended_at, 1, 10)` : ofSession} AS key, count(*) AS sessions,
        sum(CASE WHEN session.status = 'complete' THEN 1 ELSE 0 END) AS complete,
        sum(CASE WHEN ${ENDED_AS} = 'verified' THEN 1 ELSE 0 END) AS verified,
        sum(CASE WHEN ${ENDED_AS} = 'verified_checks_changed' THEN 1 ELSE 0 END) AS "checksChanged",
        sum(CASE WHEN ${ENDED_AS} = 'unverified' THEN 1 ELSE 0 END) AS unverified,
        sum(CASE WHEN ${ENDED_AS} = 'nothing_changed' THEN 1 ELSE 0 END) AS "nothingChanged",
        sum(CASE WHEN ${ENDED_AS} = 'discarded' THEN 1 ELSE 0 END) AS discarded,
        sum(session.total_commits) AS commits, sum(session.running_ms * 1.0) AS "runningMs"
      FROM pulse_sessions AS session
      WHERE session.ended_at >= ${from} AND session.ended_at < ${to} AND session.parent_session_id IS NULL
      GROUP BY 1`.execute(db);
  const iterations = await sql<Row>`
    SELECT ${by === 'day' ? sql`substr(iteration.ended_at, 1, 10)` : ofSession} AS key, count(*) AS iterations,
        sum(CASE WHEN iteration.outcome = 'rejected' THEN 1 ELSE 0 END) AS rejected,
        sum(coalesce(iteration.cost_usd, 0)) AS "spentUsd",
        sum(CASE WHEN iteration.outcome = 'rejected' THEN coalesce(iteration.cost_usd, 0) ELSE 0 END) AS "rejectedUsd",
        sum(iteration.input_tokens * 1.0 + iteration.output_tokens + iteration.cache_tokens) AS tokens
      FROM pulse_iterations AS iteration JOIN pulse_sessions AS session ON session.id = iteration.session_id
      WHERE iteration.ended_at >= ${from} AND iteration.ended_at < ${to}
      GROUP BY 1`.execute(db);
  const sums = new Map<string, Sums>();
  for (const { key, ...row } of [...sessions.rows, ...iterations.rows]) {
    const numbers = Object.entries(row).map(([name, value]) => [name, Number(value ?? 0)]);
    sums.set(key, { ...(sums.get(key) ?? NO_SUMS), ...Object.fromEntries(numbers) });
  }
  return sums;
}

const KEYS = {
  day: sql`''`,
  project: sql`session.project_name`,
  kind: sql`session.kind`,
  agent: sql`session.agent`,
};

export interface ProjectSums {
  id: string;
  name: string;
  path: string;
  sessions: number;
  open: number;
  spentUsd: number;
  lastAt: string;
}

/** The last used first. */
export async function listProjects(db: Db, limit: number): Promise<ProjectSums[]> {
  const { rows } = await sql<ProjectSums>`
    SELECT sums.id AS id, session.project_name AS name, session.project_path AS path, sums.sessions AS sessions,
        sums.open AS open, sums.spent AS "spentUsd", session.created_at AS "lastAt"
      FROM (SELECT control.project_id AS id, max(session.id) AS newest, count(*) AS sessions,
            sum(CASE WHEN session.status IN ('complete','aborted') THEN 0 ELSE 1 END) AS open,
            sum(session.spent_usd) AS spent
          FROM pulse_sessions AS session JOIN session_controls AS control ON control.session_id = session.id
          WHERE session.parent_session_id IS NULL GROUP BY control.project_id) AS sums
      JOIN pulse_sessions AS session ON session.id = sums.newest
      ORDER BY sums.newest DESC LIMIT ${limit}`.execute(db);
  return rows.map((row) => ({
    ...row,
    ...{ sessions: Number(row.sessions), open: Number(row.open), spentUsd: Number(row.spentUsd) },
  }));
}
