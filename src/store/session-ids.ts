/** Sessions by a part of their id, as people give it: the beginning, or the end that their branch has too. */
import { sql } from 'kysely';
import { PulseError } from '../domain/errors.ts';
import type { Db } from './store.ts';

/** An id is `ses_` and a UUID: the last four characters begin here. An index holds them. */
const ENDING = sql<string>`substr(id, 37)`;
const SHORTEST = 4;
/** So many are named when a part fits several. */
const CANDIDATES = 5;

/** The one id that begins or ends so. Throws `not_found` or `ambiguous_id`. */
export async function findSessionId(db: Db, part: string): Promise<string> {
  const found = /^(ses_)?[0-9a-f-]*$/.test(part) && part.length >= SHORTEST ? await candidates(db, part) : [];
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    throw new PulseError('not_found', `There is no session ${part}.`, {
      hint: '`pulse list` shows the sessions; any four or more characters of an id, from its beginning or its end, will do.',
    });
  }
  const named = found.slice(0, CANDIDATES).join(', ');
  throw new PulseError('ambiguous_id', `Several sessions begin or end with ${part}.`, {
    hint: `Give more characters: ${named}${found.length > CANDIDATES ? ', …' : ''}`,
  });
}

async function candidates(db: Db, part: string): Promise<string[]> {
  const prefix = part.startsWith('ses_') ? part : `ses_${part}`;
  const begins = await db
    .selectFrom('pulse_sessions')
    .select('id')
    .where('id', '>=', prefix)
    .where('id', '<', `${prefix}g`)
    .orderBy('id')
    .limit(CANDIDATES + 1)
    .execute();
  const ends = part.startsWith('ses_')
    ? []
    : (await endingLike(db, [part])).filter((id) => id.endsWith(part)).slice(0, CANDIDATES + 1);
  return [...new Set([...begins.map(({ id }) => id), ...ends])];
}

/** Every id whose last four characters are those of one of these. */
async function endingLike(db: Db, parts: readonly string[]): Promise<string[]> {
  const endings = [...new Set(parts.map((part) => part.slice(-SHORTEST)))];
  if (endings.length === 0) return [];
  const rows = await db.selectFrom('pulse_sessions').select('id').where(ENDING, 'in', endings).execute();
  return rows.map(({ id }) => id);
}

/** For each id the shortest ending of at least four characters that names no other session. */
export async function shortNames(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const others = await endingLike(db, ids);
  const span = await db
    .selectFrom('pulse_sessions')
    .select(({ fn }) => [fn.min<string>('id').as('first'), fn.max<string>('id').as('last')])
    .executeTakeFirst();
  /** Ids begin with their time: what could be a beginning of one lies between the oldest and the newest. */
  const mayBegin = (name: string): boolean =>
    `ses_${name}` >= (span?.first ?? '').slice(0, 4 + name.length) &&
    `ses_${name}` <= (span?.last ?? '').slice(0, 4 + name.length);
  const nameOf = (id: string): string => {
    for (let length = SHORTEST; length < id.length - 4; length++) {
      const name = id.slice(-length);
      const isShared = others.some((other) => other !== id && other.endsWith(name));
      if (!isShared && !mayBegin(name)) return name;
    }
    return id;
  };
  return new Map(ids.map((id) => [id, nameOf(id)]));
}

/** The newest session of a project that works for no other; `null`: it has none. */
export async function newestOfProject(db: Db, projectId: string): Promise<string | null> {
  const row = await db
    .selectFrom('pulse_sessions as session')
    .innerJoin('session_controls as control', 'control.session_id', 'session.id')
    .select('session.id')
    .where('control.project_id', '=', projectId)
    .where('session.parent_session_id', 'is', null)
    .orderBy('session.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}
