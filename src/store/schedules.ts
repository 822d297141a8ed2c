/** `schedules`: what is started by itself. A due row is leased; the start and its next time are one transaction. */
import type { Selectable } from 'kysely';
import { PulseError } from '../domain/errors.ts';
import { leaseFrom } from './leases.ts';
import type { SchedulesTable } from './schema.ts';
import { type Db, fromJson, storeNow, toJson } from './store.ts';

/** `run`: once, as soon as somebody is there; `skip`: it is only told. */
export type MissedPolicy = 'run' | 'skip';

export interface Schedule {
  id: string;
  host: string;
  expression: string;
  zone: string;
  missed: MissedPolicy;
  operation: string;
  input: Record<string, unknown>;
  /** As the person wrote it. */
  words: string[];
  actor: string;
  createdAt: string;
  /** `null`: it is over. */
  nextAt: string | null;
  lastAt: string | null;
  lastSession: string | null;
  lastError: string | null;
  missedCount: number;
  missedAt: string | null;
}

export type NewSchedule = Pick<
  Schedule,
  'id' | 'host' | 'expression' | 'zone' | 'missed' | 'operation' | 'input' | 'words' | 'actor'
> & { nextAt: string };

export async function insertSchedule(db: Db, schedule: NewSchedule): Promise<void> {
  const { input, words, nextAt, ...plain } = schedule;
  await db
    .insertInto('schedules')
    .values({
      ...plain,
      ...{ input: toJson(input), words: toJson(words), next_at: nextAt, created_at: storeNow() },
      ...{ last_at: null, last_session: null, last_error: null, missed_count: 0, missed_at: null },
      ...{ lease_owner: null, lease_until: null, token: 0 },
    })
    .execute();
}

/** What comes next first; what is over last. */
export async function listSchedules(db: Db): Promise<Schedule[]> {
  const rows = await db.selectFrom('schedules').selectAll().orderBy('id').execute();
  const last = '9999';
  return rows.map(decode).toSorted((a, b) => ((a.nextAt ?? last) < (b.nextAt ?? last) ? -1 : 1));
}

/** By its id, or a part of it that only one has. Throws `not_found`. */
export async function findSchedule(db: Db, part: string): Promise<Schedule> {
  const all = await listSchedules(db);
  const found = all.filter(({ id }) => id === part || (part.length >= 4 && id.endsWith(part)));
  if (found.length === 1) return found[0]!;
  const problem = found.length === 0 ? 'There is no schedule' : 'More than one schedule ends in';
  throw new PulseError('not_found', `${problem} ${part}.`, { hint: 'pulse schedule list' });
}

export async function deleteSchedule(db: Db, id: string): Promise<void> {
  await db.deleteFrom('schedules').where('id', '=', id).execute();
}

export interface DueSchedule {
  schedule: Schedule;
  token: number;
  nowMs: number;
}

/** The first that is due on this host and that nobody is at; it is the owner's from now on. */
export async function takeDueSchedule(
  db: Db,
  {
    host,
    owner,
    leaseMs,
    isGone,
  }: { host: string; owner: string; leaseMs: number; isGone(owner: string): boolean },
): Promise<DueSchedule | null> {
  const rows = await db
    .selectFrom('schedules')
    .selectAll()
    .select(storeNow().as('now'))
    .where('host', '=', host)
    .where('next_at', '<=', storeNow())
    .orderBy('next_at')
    .orderBy('id')
    .execute();
  for (const row of rows) {
    const { owner: holder, isOver } = leaseFrom(row);
    if (!isOver && holder !== null && !isGone(holder)) continue;
    // Another process may have been quicker.
    const taken = await db
      .updateTable('schedules')
      .set({ lease_owner: owner, lease_until: storeNow(leaseMs), token: row.token + 1 })
      .where('id', '=', row.id)
      .where('token', '=', row.token)
      .returning('token')
      .executeTakeFirst();
    if (taken) return { schedule: decode(row), token: taken.token, nowMs: Date.parse(row.now) };
  }
  return null;
}

export interface Turn {
  nextAt: string | null;
  /** What was started, or why it was not; neither: it was missed. */
  sessionId?: string;
  error?: string;
  missed?: number;
}

/** Says what became of this time, and when the next is. Throws `fenced` where it is somebody else's, or was removed. */
export async function turnSchedule(
  db: Db,
  { id, token }: { id: string; token: number },
  { nextAt, sessionId, error, missed = 0 }: Turn,
): Promise<void> {
  const isTried = sessionId !== undefined || error !== undefined;
  const row = await db
    .updateTable('schedules')
    .set(({ ref, eb }) => ({
      ...{ next_at: nextAt, lease_owner: null, lease_until: null },
      ...(isTried ? { last_at: storeNow(), last_session: sessionId ?? null, last_error: error ?? null } : {}),
      ...(missed > 0
        ? { missed_count: eb(ref('missed_count'), '+', missed), missed_at: ref('next_at') }
        : {}),
    }))
    .where('id', '=', id)
    .where('token', '=', token)
    .returning('id')
    .executeTakeFirst();
  if (!row) throw new PulseError('fenced', `The schedule ${id} is no longer this process's.`);
}

/** When somebody has to look again; `null`: nothing is planned. */
export async function nextScheduleMs(db: Db, host: string): Promise<number | null> {
  const row = await db
    .selectFrom('schedules')
    .select(['next_at', storeNow().as('now')])
    .where('host', '=', host)
    .where('next_at', 'is not', null)
    .orderBy('next_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_at ? Math.max(0, Date.parse(row.next_at) - Date.parse(row.now)) : null;
}

function decode(row: Selectable<SchedulesTable>): Schedule {
  return {
    ...{ id: row.id, host: row.host, expression: row.expression, zone: row.zone },
    missed: row.missed as MissedPolicy,
    operation: row.operation,
    input: fromJson<Record<string, unknown>>(row.input),
    words: fromJson<string[]>(row.words),
    ...{ actor: row.actor, createdAt: row.created_at, nextAt: row.next_at, lastAt: row.last_at },
    ...{ lastSession: row.last_session, lastError: row.last_error },
    ...{ missedCount: row.missed_count, missedAt: row.missed_at },
  };
}
