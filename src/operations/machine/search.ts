/** One search over everything a person may look for. */
import { sql } from 'kysely';
import { searchExcerpts } from '../../context/search/excerpts.ts';
import { withCoordinationTables } from '../../coordination/tables.ts';
import { PulseError } from '../../domain/errors.ts';
import { withBeadTables } from '../../loops/beads/tables.ts';
import { listCardRows } from '../../store/cards.ts';
import { listProjects } from '../../store/spending.ts';
import { type Db, fromJson } from '../../store/store.ts';
import type { Operations } from '../context.ts';
import { findProject } from '../named-project.ts';

export const PLACES = ['goals', 'turns', 'mail', 'beads', 'files'] as const;
export type Place = (typeof PLACES)[number];

export interface SearchQuery {
  q: string;
  /** By commas; all of them without. */
  in?: string;
  /** A folder of the repository, or the id of the project. */
  project?: string;
  limit?: number;
}

export interface Found {
  query: string;
  goals?: {
    sessionId: string;
    kind: string;
    goal: string;
    status: string;
    project: string;
    createdAt: string;
  }[];
  turns?: ({ turnId: string; role: string; excerpt: string; createdAt: string } & OfProject)[];
  mail?: ({
    messageId: string;
    threadId: string;
    from: string;
    subject: string;
    excerpt: string;
    createdAt: string;
  } & OfProject)[];
  beads?: ({ beadId: string; title: string; status: string } & OfProject)[];
  files?: { sessionId: string; iteration: number; path: string; commit: string | null }[];
}

/** What belongs to a project and to no session. */
interface OfProject {
  projectId: string;
  /** A folder of its repository, of the newest session there; `null`: it has had none. */
  projectPath: string | null;
}

type Unplaced<T> = Omit<T, 'projectPath'>;

const LIMIT = 20;
const EXCERPT = 200;
/** Turns are kept by project: so many of the last used are searched where none is named. */
const PROJECTS_SEARCHED = 10;
/** So many iterations with a name that fits are looked at. */
const ITERATIONS_LOOKED_AT = 500;

export async function searchAll(operations: Operations, query: SearchQuery): Promise<Found> {
  const { engine, redactor } = operations;
  const places = placesOf(query.in);
  const words = query.q.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) throw new PulseError('invalid_input', 'There is nothing to search for.');
  const project = query.project === undefined ? undefined : (await findProject(operations, query.project)).id;
  const wanted = { words, project, limit: query.limit ?? LIMIT };
  const found: Found = { query: query.q };
  const turns = places.includes('turns')
    ? await searchTurns(operations, { ...wanted, query: query.q })
    : undefined;
  await engine.store.read(async (db) => {
    if (turns) found.turns = await withPaths(db, turns);
    if (places.includes('goals')) found.goals = await searchGoals(db, wanted);
    if (places.includes('mail')) found.mail = await withPaths(db, await searchMail(db, wanted));
    if (places.includes('beads')) found.beads = await withPaths(db, await searchBeads(db, wanted));
    if (places.includes('files')) found.files = await searchFiles(db, wanted);
  });
  return redactor.redactJson(found);
}

function placesOf(given: string | undefined): Place[] {
  const named = given === undefined ? [...PLACES] : (given.split(',') as Place[]);
  const unknown = named.find((place) => !PLACES.includes(place));
  if (unknown === undefined) return named;
  throw new PulseError('invalid_input', `There is nothing called ${unknown} to search in.`, {
    hint: `One or more of ${PLACES.join(', ')}, by commas.`,
  });
}

interface Wanted {
  words: readonly string[];
  project?: string;
  limit: number;
}

async function searchGoals(db: Db, { words, project, limit }: Wanted): Promise<Found['goals']> {
  const rows = await listCardRows(db, { words, project, limit });
  return rows.map(({ session: { id, kind, goal, status, project_name, created_at } }) => ({
    ...{
      sessionId: id,
      kind,
      goal: goal.slice(0, EXCERPT),
      status,
      project: project_name,
      createdAt: created_at,
    },
  }));
}

async function searchTurns(
  { engine: { store }, meaning, redactor }: Operations,
  { query, project, limit }: Wanted & { query: string },
): Promise<Unplaced<NonNullable<Found['turns']>[number]>[]> {
  const ids =
    project === undefined
      ? (await store.read((db) => listProjects(db, PROJECTS_SEARCHED))).map(({ id }) => id)
      : [project];
  const found = await Promise.all(
    ids.map(async (projectId) => {
      const results = await searchExcerpts(
        { store, meaning },
        { query, projectId, limit, redact: redactor.redact },
      );
      return results.map((result) => ({ ...result, projectId }));
    }),
  );
  return found
    .flat()
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, limit)
    .map(({ turn_id, projectId, role, excerpt, created_at }) => ({
      ...{ turnId: turn_id, projectId, role, excerpt, createdAt: created_at },
    }));
}

async function searchMail(
  db: Db,
  { words, project, limit }: Wanted,
): Promise<Unplaced<NonNullable<Found['mail']>[number]>[]> {
  let query = withCoordinationTables(db)
    .selectFrom('mail_messages')
    .select(['id', 'thread_id', 'project_id', 'sender_name', 'subject', 'body_md', 'created_at'])
    .orderBy('number', 'desc')
    .limit(limit);
  if (project !== undefined) query = query.where('project_id', '=', project);
  for (const word of words) query = query.where(has(sql`subject || ' ' || body_md`, word));
  return (await query.execute()).map((row) => ({
    ...{ messageId: row.id, threadId: row.thread_id, projectId: row.project_id, from: row.sender_name },
    ...{
      subject: row.subject,
      excerpt: row.body_md.slice(0, EXCERPT).toWellFormed(),
      createdAt: row.created_at,
    },
  }));
}

async function searchBeads(
  db: Db,
  { words, project, limit }: Wanted,
): Promise<Unplaced<NonNullable<Found['beads']>[number]>[]> {
  let query = withBeadTables(db)
    .selectFrom('beads as bead')
    .innerJoin('bead_texts as text', (join) =>
      join.onRef('text.project_id', '=', 'bead.project_id').onRef('text.id', '=', 'bead.id'),
    )
    .select(['bead.id', 'bead.project_id', 'bead.title', 'bead.status'])
    .orderBy('bead.created_ms', 'desc')
    .limit(limit);
  if (project !== undefined) query = query.where('bead.project_id', '=', project);
  for (const word of words)
    query = query.where(has(sql`bead.id || ' ' || bead.title || ' ' || text.body`, word));
  return (await query.execute()).map((row) => ({
    ...{ beadId: row.id, projectId: row.project_id, title: row.title, status: row.status },
  }));
}

async function withPaths<T extends { projectId: string }>(
  db: Db,
  found: readonly T[],
): Promise<(T & OfProject)[]> {
  const ids = [...new Set(found.map(({ projectId }) => projectId))];
  if (ids.length === 0) return [];
  const newest = db
    .selectFrom('session_controls')
    .select(({ fn }) => fn.max('session_id').as('newest'))
    .where('project_id', 'in', ids)
    .groupBy('project_id');
  const rows = await db
    .selectFrom('session_controls as control')
    .innerJoin('pulse_sessions as session', 'session.id', 'control.session_id')
    .select(['control.project_id as id', 'session.project_path as path'])
    .where('control.session_id', 'in', newest)
    .execute();
  const paths = new Map(rows.map(({ id, path }) => [id, path]));
  return found.map((one) => ({ ...one, projectPath: paths.get(one.projectId) ?? null }));
}

/** Files that an iteration has changed, by their paths. */
async function searchFiles(db: Db, { words, project, limit }: Wanted): Promise<Found['files']> {
  let query = db
    .selectFrom('pulse_iterations as iteration')
    .innerJoin('session_controls as control', 'control.session_id', 'iteration.session_id')
    .select([
      'iteration.session_id',
      'iteration.iteration_number',
      'iteration.files_changed',
      'iteration.commit_hash',
    ])
    .orderBy('iteration.session_id', 'desc')
    .orderBy('iteration.iteration_number', 'desc')
    .limit(ITERATIONS_LOOKED_AT);
  if (project !== undefined) query = query.where('control.project_id', '=', project);
  for (const word of words) query = query.where(has(sql`CAST(iteration.files_changed AS text)`, word));
  const fits = (path: string) => words.every((word) => path.toLowerCase().includes(word.toLowerCase()));
  const rows = await query.execute();
  return rows
    .flatMap((row) =>
      fromJson<string[]>(row.files_changed)
        .filter(fits)
        .map((path) => ({
          ...{ sessionId: row.session_id, iteration: row.iteration_number, path, commit: row.commit_hash },
        })),
    )
    .slice(0, limit);
}

function has(text: ReturnType<typeof sql>, word: string) {
  const pattern = `%${word.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`lower(${text}) LIKE ${pattern} ESCAPE '\\'`;
}
