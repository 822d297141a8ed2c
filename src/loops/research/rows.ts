/** `researches` and `experiments`. */
import { type Insertable, type Selectable, sql, type UpdateObject } from 'kysely';
import type { Session } from '../../store/sessions.ts';
import { type Db, fromJson, storeNow, toJson } from '../../store/store.ts';
import {
  type ExperimentsTable,
  type ResearchesTable,
  type ResearchTables,
  withResearchTables,
} from './tables.ts';

export interface Research
  extends Omit<Selectable<ResearchesTable>, 'content' | 'reference' | 'good_runs_ms'> {
  /** What research.yaml gave; read it with `readResearchFile`. */
  content: unknown;
  reference: unknown;
  good_runs_ms: number[];
}

export interface Experiment extends Omit<Selectable<ExperimentsTable>, 'decision' | 'crashes'> {
  decision: unknown;
  crashes: string[];
}

export async function insertResearch(
  db: Db,
  research: { sessionId: string; content: unknown; iterations: number | null; parallel: number },
): Promise<void> {
  const { sessionId, content, iterations, parallel } = research;
  await withResearchTables(db)
    .insertInto('researches')
    .values({
      session_id: sessionId,
      content: toJson(content),
      phase: 'researching',
      reference: null,
      baseline: null,
      best: null,
      best_experiment: null,
      good_runs_ms: '[]',
      iterations,
      findings: '',
      created_at: storeNow(),
      implementation: null,
      finished_by: null,
      finished_at: null,
      parallel,
      best_sha: null,
      host: null,
    })
    .execute();
}

export async function findResearch(db: Db, sessionId: string): Promise<Research | null> {
  const row = await withResearchTables(db)
    .selectFrom('researches')
    .selectAll()
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  if (!row) return null;
  return {
    ...row,
    content: fromJson(row.content),
    reference: row.reference === null ? null : fromJson(row.reference),
    good_runs_ms: fromJson<number[]>(row.good_runs_ms),
  };
}

export async function updateResearch(
  db: Db,
  sessionId: string,
  patch: Omit<UpdateObject<ResearchTables, 'researches'>, 'session_id'>,
): Promise<void> {
  await withResearchTables(db)
    .updateTable('researches')
    .set(patch)
    .where('session_id', '=', sessionId)
    .execute();
}

export async function insertExperiment(
  db: Db,
  experiment: Pick<Insertable<ExperimentsTable>, 'session_id' | 'number' | 'start_sha' | 'worker_id'>,
): Promise<void> {
  await withResearchTables(db)
    .insertInto('experiments')
    .values({
      ...experiment,
      status: 'running',
      description: '',
      fingerprint: '',
      commit_hash: null,
      wip_sha: null,
      metric: null,
      delta: null,
      reason: null,
      decision: null,
      crashes: '[]',
      runs: 1,
      duration_ms: 0,
      started_at: storeNow(),
      ended_at: null,
      is_outdated: 0,
    })
    .execute();
}

/** How many have been begun, by whomever. */
export async function countExperiments(db: Db, sessionId: string): Promise<number> {
  const row = await withResearchTables(db)
    .selectFrom('experiments')
    .select(({ fn }) => fn.max('number').as('newest'))
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row?.newest ?? 0;
}

/** Whether another commit than this one has become the best. */
export async function isOvertaken(db: Db, sessionId: string, commit: string): Promise<boolean> {
  const row = await withResearchTables(db)
    .selectFrom('researches')
    .select('best_sha')
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row?.best_sha != null && row.best_sha !== commit;
}

/** As a literal: a database finds no partial index by a parameter's value. */
const RUNNING = sql.lit('running' as const);

/** The one that this session edits. */
export async function runningExperiment(
  db: Db,
  { sessionId, workerId }: { sessionId: string; workerId: string },
): Promise<Experiment | null> {
  const row = await withResearchTables(db)
    .selectFrom('experiments')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('worker_id', '=', workerId)
    .where('status', '=', RUNNING)
    .executeTakeFirst();
  return row ? decodeExperiment(row) : null;
}

/** Those that are not decided yet, by whomever. */
export async function runningExperiments(db: Db, sessionId: string): Promise<Experiment[]> {
  const rows = await withResearchTables(db)
    .selectFrom('experiments')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('status', '=', RUNNING)
    .orderBy('number')
    .execute();
  return rows.map(decodeExperiment);
}

export type ExperimentPatch = Omit<UpdateObject<ResearchTables, 'experiments'>, 'session_id' | 'number'>;

export async function updateExperiment(
  db: Db,
  { session_id, number }: Pick<Experiment, 'session_id' | 'number'>,
  patch: ExperimentPatch,
): Promise<void> {
  await withResearchTables(db)
    .updateTable('experiments')
    .set(patch)
    .where('session_id', '=', session_id)
    .where('number', '=', number)
    .execute();
}

/** The newest `count`, newest first; all of them without a count. */
export async function listExperiments(db: Db, sessionId: string, count?: number): Promise<Experiment[]> {
  const query = withResearchTables(db)
    .selectFrom('experiments')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('number', 'desc');
  const rows = await (count === undefined ? query : query.limit(count)).execute();
  return rows.map(decodeExperiment);
}

/** Ascending. */
export async function pageExperiments(
  db: Db,
  sessionId: string,
  { after, limit }: { after: number; limit: number },
): Promise<Experiment[]> {
  const rows = await withResearchTables(db)
    .selectFrom('experiments')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute();
  return rows.map(decodeExperiment);
}

export async function findExperiment(db: Db, sessionId: string, number: number): Promise<Experiment | null> {
  const [found] = await pageExperiments(db, sessionId, { after: number - 1, limit: 1 });
  return found?.number === number ? found : null;
}

function decodeExperiment(row: Selectable<ExperimentsTable>): Experiment {
  return {
    ...row,
    decision: row.decision === null ? null : fromJson(row.decision),
    crashes: fromJson<string[]>(row.crashes),
  };
}

const HEAD = [
  'number',
  'status',
  'description',
  'commit_hash',
  'metric',
  'delta',
  'crashes',
  'ended_at',
] as const;
/** What a log says of an experiment, without the readings behind it. */
export type ExperimentHead = Pick<Experiment, (typeof HEAD)[number]>;

/** All of them, newest first: a long session's readings would be megabytes. */
export async function listExperimentHeads(db: Db, sessionId: string): Promise<ExperimentHead[]> {
  const rows = await withResearchTables(db)
    .selectFrom('experiments')
    .select(HEAD)
    .where('session_id', '=', sessionId)
    .orderBy('number', 'desc')
    .execute();
  return rows.map((row) => ({ ...row, crashes: fromJson<string[]>(row.crashes) }));
}

type Order = Pick<Research, 'session_id' | 'parallel'>;

/**
 * The newest `count` that are decided, newest first, in the order in which they were: where several experiment at once,
 * a later one may be decided first.
 */
export async function newestDecided(
  db: Db,
  { session_id, parallel }: Order,
  count: number,
): Promise<ExperimentHead[]> {
  const query = withResearchTables(db)
    .selectFrom('experiments')
    .select(HEAD)
    .where('session_id', '=', session_id)
    .where('status', '!=', 'running');
  const ordered = parallel > 1 ? query.orderBy('ended_at', 'desc') : query;
  const rows = await ordered.orderBy('number', 'desc').limit(count).execute();
  return rows.map((row) => ({ ...row, crashes: fromJson<string[]>(row.crashes) }));
}

/** Why these were decided as they were, newest first. */
export function reasonsOf(
  db: Db,
  sessionId: string,
  numbers: readonly number[],
): Promise<{ number: number; description: string; reason: string | null }[]> {
  if (numbers.length === 0) return Promise.resolve([]);
  return withResearchTables(db)
    .selectFrom('experiments')
    .select(['number', 'description', 'reason'])
    .where('session_id', '=', sessionId)
    .where('number', 'in', numbers)
    .orderBy('number', 'desc')
    .execute();
}

/** How those that were decided since the best was kept ended, in that order. */
export async function endsSinceBest(
  db: Db,
  { session_id, parallel, best_experiment: best }: Order & Pick<Research, 'best_experiment'>,
): Promise<Experiment['status'][]> {
  const query = withResearchTables(db)
    .selectFrom('experiments')
    .select('status')
    .where('session_id', '=', session_id)
    .where('status', '!=', 'running');
  const isOneByOne = parallel === 1;
  const since =
    best === null
      ? query
      : isOneByOne
        ? query.where('number', '>', best)
        : query.where('ended_at', '>', (of) =>
            of
              .selectFrom('experiments')
              .select('ended_at')
              .where('session_id', '=', session_id)
              .where('number', '=', best),
          );
  const rows = await (isOneByOne ? since : since.orderBy('ended_at')).orderBy('number').execute();
  return rows.map(({ status }) => status);
}

/** Those after `number`, oldest first. */
export function listDescriptionsAfter(
  db: Db,
  sessionId: string,
  number: number,
): Promise<Pick<Experiment, 'number' | 'status' | 'description'>[]> {
  return withResearchTables(db)
    .selectFrom('experiments')
    .select(['number', 'status', 'description'])
    .where('session_id', '=', sessionId)
    .where('number', '>', number)
    .orderBy('number')
    .execute();
}

/** Whether research that was started later in the same folder has something to show. */
export async function isFollowedByResearch(
  db: Db,
  { id, project_path, created_at }: Pick<Session, 'id' | 'project_path' | 'created_at'>,
): Promise<boolean> {
  const later = await withResearchTables(db)
    .selectFrom('pulse_sessions')
    .innerJoin('researches', 'researches.session_id', 'pulse_sessions.id')
    .select('id')
    .where('kind', '=', sql.lit('research'))
    .where('project_path', '=', project_path)
    .where('parent_session_id', 'is', null)
    .where('baseline', 'is not', null)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('pulse_sessions.created_at', 'id'), '>', tuple(created_at, id)),
    )
    .limit(1)
    .executeTakeFirst();
  return later !== undefined;
}

/** Why the newest `count` that were not kept were not, by their numbers. */
export async function listFailureReasons(
  db: Db,
  sessionId: string,
  count: number,
): Promise<Map<number, string>> {
  const rows = await withResearchTables(db)
    .selectFrom('experiments')
    .select(['number', 'reason'])
    .where('session_id', '=', sessionId)
    .where('status', 'in', ['discard', 'crash'])
    .orderBy('number', 'desc')
    .limit(count)
    .execute();
  return new Map(rows.map(({ number, reason }) => [number, reason ?? '']));
}

/** Whether this idea was discarded, or ended in a crash of a kind that bans it. */
export async function isTriedIdea(
  db: Db,
  sessionId: string,
  { fingerprint, bannedBy }: { fingerprint: string; bannedBy: readonly string[] },
): Promise<boolean> {
  const rows = await withResearchTables(db)
    .selectFrom('experiments')
    .select(['status', 'crashes'])
    .where('session_id', '=', sessionId)
    .where('fingerprint', '=', fingerprint)
    .where('status', 'in', ['discard', 'crash'])
    .execute();
  return rows.some(
    ({ status, crashes }) =>
      status === 'discard' || fromJson<string[]>(crashes).some((kind) => bannedBy.includes(kind)),
  );
}

/** The unit whose commit had this very tree and was discarded, in any session of the research; `null`: there is none. */
export async function findTriedChange(db: Db, sessionId: string, tree: string): Promise<string | null> {
  const row = await withResearchTables(db)
    .selectFrom('pulse_iterations')
    .select('unit')
    .where('session_id', 'in', (of) =>
      of
        .selectFrom('pulse_sessions')
        .select('id')
        .where((where) =>
          where.or([where('id', '=', sessionId), where('parent_session_id', '=', sessionId)]),
        ),
    )
    .where('tree_hash', '=', tree)
    .where('outcome', '=', 'discarded')
    .limit(1)
    .executeTakeFirst();
  return row?.unit ?? null;
}
