/**
 * `reservations`: who may change which files for now. All that is asked for is granted, or nothing is, so nobody waits
 * for another while holding what that one waits for. Every granting transaction takes the project's next fence, which
 * lets one through at a time.
 */
import { PulseError } from '../../domain/errors.ts';
import { type IdSource, uuidv7 } from '../../domain/ids.ts';
import { redact } from '../../domain/redact.ts';
import { type Db, storeNow } from '../../store/store.ts';
import { DEFAULT_TTL_MS, LONGEST_TTL_MS, MOST_HELD, MOST_IN_REASON, MOST_PATHS } from '../bounds.ts';
import { nextFence } from '../fence.ts';
import { withCoordinationTables } from '../tables.ts';
import { type Conflict, findConflicts } from './conflicts.ts';
import {
  type HeldRow,
  inOrder,
  listHeldRows,
  listReservations,
  type Reservation,
  toReservation,
} from './held.ts';
import { type PathPattern, parsePattern } from './pattern.ts';

const KEPT_MS = 7 * 86_400_000;
const GRANTS_BETWEEN_CLEANING = 64;

/** Whose run asks: what it holds ends with it. Without it: a person's, which expires. */
export interface Holder {
  sessionId: string;
  /** '': of all the session's runs, until the session gives it back. */
  attemptId: string;
  /** The process that the run belongs to: its death ends what it holds. */
  owner?: string;
}

export interface ReservationRequest {
  project: string;
  agent: string;
  /** Patterns, relative to the top of the repository. */
  paths: readonly string[];
  isShared?: boolean;
  ttlMs?: number;
  reason?: string;
  holder?: Holder;
  /** A person's word: what stands in the way is taken from its holders. */
  isForced?: boolean;
  /** The top of the repository, for absolute paths. */
  root?: string;
  /** Pulse itself reserves all files of a bead at once, which are more than one asks for by hand. */
  mostPaths?: number;
  ids: IdSource;
  redact?: (text: string) => string;
}

export interface ReservationAnswer {
  /** Empty, or all that was asked for. */
  granted: Reservation[];
  conflicts: Conflict[];
  /** The number of this request: what it grants carries it; what it only renews keeps an earlier one. */
  fence: number;
}

/** One transaction's part. The same agent's request for the same path renews it. Throws `invalid_input`, `path_outside`. */
export async function reservePaths(db: Db, request: ReservationRequest): Promise<ReservationAnswer> {
  const { project, agent, isShared = false, isForced = false } = request;
  const patterns = readPaths(request);
  const fence = await nextFence(db, project);
  if (fence % GRANTS_BETWEEN_CLEANING === 0) await forgetOld(db, project);
  const held = await listHeldRows(db, project);
  const others = held.filter(({ agent_name }) => agent_name !== agent);
  const conflicts = findConflicts(patterns, others, { isShared });
  if (conflicts.length > 0 && !isForced) return { granted: [], conflicts, fence };
  await releaseRows(
    db,
    conflicts.map(({ reservation_id }) => reservation_id),
  );
  const own = held.filter(({ agent_name }) => agent_name === agent);
  refuseTooMany(own, patterns);
  const texts = patterns.map(({ text }) => text);
  const [known, fresh] = [own.filter(({ path }) => texts.includes(path)), new Set(texts)];
  for (const { path } of known) fresh.delete(path);
  const granted = [
    ...(await keepSessions(db, known, request)),
    ...(await renew(db, renewable(known, request), { request, fence })),
    ...(await insert(db, [...fresh], { request, fence })),
  ];
  return { granted: granted.sort(inOrder), conflicts: [], fence };
}

export interface Release {
  project: string;
  agent: string;
  /** As they were reserved; without it all of the agent's. */
  paths?: readonly string[];
  root?: string;
}

/** What was released. */
export async function releaseReservations(db: Db, release: Release): Promise<Reservation[]> {
  const { project, agent, paths, root } = release;
  const texts = paths?.map((path) => parsePattern(path, root).text);
  const held = await listReservations(db, { project, agent });
  const ended = texts ? held.filter(({ path }) => texts.includes(path)) : held;
  await releaseRows(
    db,
    ended.map(({ id }) => id),
  );
  return ended;
}

/** A person's word about one reservation, no matter whose it is. `null`: it is over already. Throws `not_found`. */
export async function releaseReservation(db: Db, id: string): Promise<Reservation | null> {
  const known = await withCoordinationTables(db)
    .selectFrom('reservations')
    .select('project_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!known) throw new PulseError('not_found', `There is no reservation ${id.slice(0, 100)}.`);
  const held = await listReservations(db, { project: known.project_id });
  const found = held.find((reservation) => reservation.id === id) ?? null;
  if (found) await releaseRows(db, [id]);
  return found;
}

/** Of a run that is over, or of all runs of a session. What has ended. Calling it twice does no harm. */
export async function endReservations(
  db: Db,
  { sessionId, attemptId }: Pick<Holder, 'sessionId'> & Partial<Holder>,
): Promise<Reservation[]> {
  let query = withCoordinationTables(db)
    .updateTable('reservations')
    .set({ released_at: storeNow() })
    .where('session_id', '=', sessionId)
    .where('released_at', 'is', null);
  if (attemptId !== undefined) query = query.where('attempt_id', '=', attemptId);
  return (await query.returningAll().execute()).map(toReservation).sort(inOrder);
}

function readPaths({ paths, root, ttlMs, agent, mostPaths = MOST_PATHS }: ReservationRequest): PathPattern[] {
  if (agent.trim() === '') throw new PulseError('invalid_input', 'The reservation has no agent.');
  if (paths.length === 0) throw new PulseError('invalid_input', 'No path is named.');
  if (paths.length > mostPaths)
    throw new PulseError('too_large', `At most ${mostPaths} paths can be reserved at once.`);
  if (ttlMs !== undefined && !(ttlMs > 0 && ttlMs <= LONGEST_TTL_MS))
    throw new PulseError('invalid_input', 'A reservation lasts from a millisecond to seven days.');
  const patterns = paths.map((path) => parsePattern(path, root));
  const inGit = patterns.find(({ readings }) =>
    readings.some(([first]) => first !== undefined && first !== '**' && first.literal === '.git'),
  );
  if (inGit !== undefined)
    throw new PulseError(
      'path_outside',
      `"${inGit.text}" belongs to git, not to the files of the repository.`,
    );
  return [...new Map(patterns.map((pattern) => [pattern.text, pattern])).values()];
}

function refuseTooMany(own: readonly HeldRow[], asked: readonly PathPattern[]): void {
  const added = asked.filter(({ text }) => !own.some(({ path }) => path === text));
  if (own.length + added.length <= MOST_HELD) return;
  throw new PulseError('too_large', `One agent holds at most ${MOST_HELD} reservations.`, {
    hint: 'Release what is no longer needed, or reserve a pattern that covers it.',
  });
}

interface Grant {
  request: ReservationRequest;
  fence: number;
}

function grantColumns({ isShared, ttlMs, reason, holder, redact: hide = redact }: ReservationRequest) {
  return {
    exclusive: isShared ? 0 : 1,
    reason: reason === undefined ? null : hide(reason).slice(0, MOST_IN_REASON).toWellFormed(),
    session_id: holder?.sessionId ?? null,
    attempt_id: holder?.attemptId ?? null,
    owner: holder?.owner ?? null,
    expires_at: storeNow(ttlMs ?? DEFAULT_TTL_MS),
  };
}

async function insert(db: Db, paths: readonly string[], { request, fence }: Grant): Promise<Reservation[]> {
  if (paths.length === 0) return [];
  const rows = paths.map((path) => ({
    id: `rsv_${uuidv7(request.ids)}`,
    project_id: request.project,
    agent_name: request.agent,
    path,
    fence,
    ...grantColumns(request),
    created_at: storeNow(),
    released_at: null,
  }));
  const inserted = withCoordinationTables(db).insertInto('reservations').values(rows).returningAll();
  return (await inserted.execute()).map(toReservation);
}

/** What its session holds, a run cannot turn into its own: it would end with the run. */
function isSessions({ attempt_id }: HeldRow, { holder }: ReservationRequest): boolean {
  return attempt_id === '' && holder !== undefined && holder.attemptId !== '';
}

function renewable(held: readonly HeldRow[], request: ReservationRequest): HeldRow[] {
  return held.filter((row) => !isSessions(row, request));
}

async function keepSessions(
  db: Db,
  held: readonly HeldRow[],
  request: ReservationRequest,
): Promise<Reservation[]> {
  const kept = held.filter((row) => isSessions(row, request)).map(({ id }) => id);
  if (kept.length === 0) return [];
  const { project, agent } = request;
  return (await listReservations(db, { project, agent })).filter(({ id }) => kept.includes(id));
}

/** The fence stays as long as the same run holds it: another run of the same agent is a later holder. */
async function renew(db: Db, held: readonly HeldRow[], { request, fence }: Grant): Promise<Reservation[]> {
  const attempt = request.holder?.attemptId ?? null;
  const isSameRun = ({ attempt_id }: HeldRow): boolean => attempt_id === attempt;
  const renewed: Reservation[] = [];
  for (const [rows, more] of [
    [held.filter(isSameRun), {}],
    [held.filter((row) => !isSameRun(row)), { fence }],
  ] as const) {
    if (rows.length === 0) continue;
    const updated = await withCoordinationTables(db)
      .updateTable('reservations')
      .set({ ...grantColumns(request), ...more })
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .returningAll()
      .execute();
    renewed.push(...updated.map(toReservation));
  }
  return renewed;
}

async function releaseRows(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await withCoordinationTables(db)
    .updateTable('reservations')
    .set({ released_at: storeNow() })
    .where('id', 'in', ids)
    .where('released_at', 'is', null)
    .execute();
}

/** Who held what is of interest for some days. */
async function forgetOld(db: Db, project: string): Promise<void> {
  await withCoordinationTables(db)
    .deleteFrom('reservations')
    .where('project_id', '=', project)
    .where('expires_at', '<', storeNow(-KEPT_MS))
    .execute();
}
