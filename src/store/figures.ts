/**
 * Sums over everything the store holds. A session that has ended for good is counted once, into `ended_figures`; only the
 * others are summed each time. The rows of that table are added up: each count adds a row, so that nobody waits for another.
 */
import { sql } from 'kysely';
import type { SessionStatus } from '../domain/status.ts';
import { type Db, isPostgres, type Store } from './store.ts';

export interface Figures {
  sessions: Partial<Record<SessionStatus, number>>;
  spentUsd: number;
  tokens: number;
  iterationsSettled: number;
}

/** Nothing leads out of these. */
const ENDS: readonly SessionStatus[] = ['complete', 'aborted'];
/** So many ended sessions are summed each time before they are worth a write. */
const WORTH_COUNTING = 50;
const COUNTED_TOGETHER = 500;

/** Reads the figures, and counts what has ended since, so that the next reading is as quick. */
export async function lookAtFigures(store: Store): Promise<Figures> {
  const { figures, uncounted } = await store.read(readSums);
  for (let left = uncounted; left >= WORTH_COUNTING; left -= COUNTED_TOGETHER)
    await store.tx('count_ended', (db) => countEnded(db));
  return figures;
}

export async function readFigures(db: Db): Promise<Figures> {
  return (await readSums(db)).figures;
}

interface Sum {
  status: SessionStatus;
  isCounted: number;
  sessions: number;
  spent: number;
  tokens: number;
  settled: number;
}

/** One statement: what is being counted at this moment is seen on one side of it, never on both or on none. */
async function readSums(db: Db): Promise<{ figures: Figures; uncounted: number }> {
  // Tokens as a real number: a sum of whole ones has a largest value, beyond which SQLite fails.
  const { rows } = await sql<Sum>`
    SELECT session.status AS status, 0 AS "isCounted", count(*) AS sessions, sum(session.spent_usd) AS spent,
        sum(session.total_tokens_used * 1.0) AS tokens, sum(control.settled_iterations) AS settled
      FROM session_controls AS control JOIN pulse_sessions AS session ON session.id = control.session_id
      WHERE control.is_counted = 0 GROUP BY session.status
    UNION ALL
    SELECT status, 1, sum(sessions), sum(spent_usd), sum(tokens), sum(settled_iterations)
      FROM ended_figures GROUP BY status`.execute(db);
  const total = (of: (row: Sum) => number): number => rows.reduce((sum, row) => sum + Number(of(row)), 0);
  const sessions: Figures['sessions'] = {};
  for (const { status, sessions: count } of rows) sessions[status] = (sessions[status] ?? 0) + Number(count);
  return {
    figures: {
      sessions,
      spentUsd: total(({ spent }) => spent),
      tokens: total(({ tokens }) => tokens),
      iterationsSettled: total(({ settled }) => settled),
    },
    uncounted: total((row) => (row.isCounted === 0 && ENDS.includes(row.status) ? row.sessions : 0)),
  };
}

/**
 * Counts sessions that have ended, each once. One that still has an iteration to settle waits: settling is told to nobody
 * here. What is spent later is (`addLateSpending`).
 */
export async function countEnded(db: Db): Promise<void> {
  const ended = await db
    .selectFrom('session_controls as control')
    // A cross join keeps SQLite to this order: those that are not counted are few, those that have ended are not.
    .crossJoin('pulse_sessions as session')
    .whereRef('session.id', '=', 'control.session_id')
    .select(['session.id', 'session.status', 'session.spent_usd', 'session.total_tokens_used'])
    .select('control.settled_iterations')
    // Written out, as its index says it: a parameter would not find the index.
    .where('control.is_counted', '=', sql.lit(0))
    .where('session.status', 'in', ENDS)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('pulse_iterations as iteration')
            .select('iteration.id')
            .whereRef('iteration.session_id', '=', 'session.id')
            .where(sql<boolean>`iteration.status IN ('pending','dispatched','running')`),
        ),
      ),
    )
    .limit(COUNTED_TOGETHER)
    // Spending at this moment comes before it or after it.
    .$if(isPostgres(db), (found) => found.forUpdate(['control', 'session']))
    .execute();
  if (ended.length === 0) return;
  await db
    .updateTable('session_controls')
    .set({ is_counted: 1 })
    .where(
      'session_id',
      'in',
      ended.map(({ id }) => id),
    )
    .execute();
  const before = await db.deleteFrom('ended_figures').returningAll().execute();
  const rows = [
    ...before,
    ...ended.map((session) => ({
      status: session.status,
      sessions: 1,
      spent_usd: session.spent_usd,
      tokens: session.total_tokens_used,
      settled_iterations: session.settled_iterations,
    })),
  ];
  const sums = ENDS.filter((status) => rows.some((row) => row.status === status)).map((status) => {
    const own = rows.filter((row) => row.status === status);
    const total = (of: (row: (typeof rows)[number]) => number): number =>
      own.reduce((sum, row) => sum + Number(of(row)), 0);
    return {
      status,
      sessions: total((row) => row.sessions),
      spent_usd: total((row) => row.spent_usd),
      tokens: total((row) => row.tokens),
      settled_iterations: total((row) => row.settled_iterations),
    };
  });
  await db.insertInto('ended_figures').values(sums).execute();
}

/** For sessions that were counted before they spent this: an agent's last words may come after the end. */
export async function addLateSpending(
  db: Db,
  sessions: readonly string[],
  { costUsd, tokens }: { costUsd: number; tokens: number },
): Promise<void> {
  const counted = await db
    .selectFrom('session_controls as control')
    .innerJoin('pulse_sessions as session', 'session.id', 'control.session_id')
    .select('session.status')
    .where('control.session_id', 'in', sessions)
    .where('control.is_counted', '=', 1)
    .execute();
  if (counted.length === 0) return;
  const late = { sessions: 0, spent_usd: costUsd, tokens, settled_iterations: 0 };
  await db
    .insertInto('ended_figures')
    .values(counted.map(({ status }) => ({ status, ...late })))
    .execute();
}
