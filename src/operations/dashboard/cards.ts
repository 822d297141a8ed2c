/** Sessions for a page that shows many of them: what each asks of a person, and what happens in it. */
import { type AttentionGroup, attentionOf } from '../../domain/attention.ts';
import { trustOf } from '../../domain/check-words.ts';
import { type NextCommand, nextCommand } from '../../domain/next-command.ts';
import { type Now, nowOf } from '../../domain/phase.ts';
import type { SessionStatus } from '../../domain/status.ts';
import { listUnresolved } from '../../loops/workflow/unresolved-rows.ts';
import { type CardFilter, type CardRow, listCardRows } from '../../store/cards.ts';
import { recentIterations } from '../../store/iterations.ts';
import type { SessionBrief } from '../../store/overview.ts';
import { shortNames } from '../../store/session-ids.ts';
import { getSession } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import { holderOf, type Reading, type RunnerState, readSeen } from '../view.ts';
import { readTime } from './time.ts';

export interface Card extends SessionBrief {
  attention: AttentionGroup;
  runner: RunnerState;
  /** `null`: nothing happens in it. */
  now: (Now & { unit: string | null }) | null;
  /** The shortest ending of the id that is enough to name it. */
  short: string;
  /** How many issues its pulses were accepted with. */
  unresolved: number;
  next: NextCommand | null;
}

export interface CardQuery {
  status?: SessionStatus;
  kind?: string;
  project?: string;
  parent?: string;
  attention?: AttentionGroup;
  since?: string;
  q?: string;
  limit?: number;
  cursor?: string;
}

export interface Cards {
  sessions: Card[];
  nextCursor: string | null;
}

const PAGE = 50;

export async function viewCards({ engine, redactor }: Reading, query: CardQuery): Promise<Cards> {
  const { limit = PAGE } = query;
  return engine.store.read(async (db) => {
    const found = await findRows(db, { query, limit: limit + 1, owners: engine.owners });
    const rows = found.slice(0, limit);
    const sessions = await cardsOf(db, rows, engine.owners);
    const nextCursor = found.length > rows.length ? (rows.at(-1)?.session.id ?? null) : null;
    return redactor.redactJson({ sessions, nextCursor });
  });
}

interface Find {
  query: CardQuery;
  limit: number;
  owners: Reading['engine']['owners'];
}

/** Who drives a session is not in the store: of those that should be running it is asked one by one. */
async function findRows(db: Db, { query, limit, owners }: Find): Promise<CardRow[]> {
  const { attention, status, parent, q = '', since, cursor, kind, project } = query;
  const statuses = statusesFor(attention, status);
  if (statuses?.length === 0) return [];
  const filter: CardFilter = {
    ...{ statuses, kind, project, since: since && readTime('since', since) },
    parent: parent === undefined ? undefined : (await getSession(db, parent)).id,
    words: q.split(/\s+/).filter((word) => word !== ''),
    limit,
  };
  const rows: CardRow[] = [];
  for (let before = cursor; rows.length < limit; ) {
    const page = await listCardRows(db, { ...filter, before });
    rows.push(...page.filter((row) => attention === undefined || groupOf(row, owners) === attention));
    before = page.at(-1)?.session.id;
    if (page.length < limit) break;
  }
  return rows.slice(0, limit);
}

/** What a session must be to belong into the group. */
const GROUP_STATUSES: Record<AttentionGroup, readonly SessionStatus[]> = {
  needs_you: ['blocked', 'paused'],
  failed: ['failed'],
  no_runner: ['running', 'pending'],
  waiting: ['running', 'pending'],
  running: ['running', 'pending'],
  done: ['complete', 'aborted'],
};

function statusesFor(
  attention?: AttentionGroup,
  status?: SessionStatus,
): readonly SessionStatus[] | undefined {
  if (attention === undefined) return status && [status];
  return GROUP_STATUSES[attention].filter((one) => status === undefined || one === status);
}

function groupOf({ session, lease, isQueued }: CardRow, owners: Reading['engine']['owners']): AttentionGroup {
  return attentionOf({ ...session, isQueued }, { isDriven: holderOf(lease, owners) !== 'none' });
}

/** In the order of the rows. */
export async function cardsOf(
  db: Db,
  rows: readonly CardRow[],
  owners: Reading['engine']['owners'],
): Promise<Card[]> {
  const ids = rows.map(({ session }) => session.id);
  const names = await shortNames(db, ids);
  const left = await listUnresolved(db, ids);
  const cards: Card[] = [];
  for (const { session, lease, isQueued } of rows) {
    const runner = holderOf(lease, owners);
    const isDriven = runner !== 'none';
    cards.push({
      ...session,
      trust: trustOf(session),
      attention: attentionOf({ ...session, isQueued }, { isDriven }),
      runner,
      now: await readNow(db, session),
      short: names.get(session.id)!,
      unresolved: left.get(session.id)?.length ?? 0,
      next: nextCommand(session, { isDriven }),
    });
  }
  return cards;
}

async function readNow(db: Db, { id, status }: SessionBrief): Promise<Card['now']> {
  if (status !== 'running') return null;
  const now = nowOf(await readSeen(db, id));
  if (!now) return null;
  const [newest] = await recentIterations(db, id, 1);
  const unit = newest && newest.iteration_number === now.iteration ? newest.unit : null;
  return { ...(now.step === 'planning' ? await withWorkers(db, id, now) : now), unit };
}

const MOST_WORKERS = 50;

/** While a session waits for those that work for it, what they do is what happens in it. */
async function withWorkers(db: Db, id: string, own: Now): Promise<Now> {
  const workers = await listCardRows(db, { parent: id, statuses: ['running'], limit: MOST_WORKERS });
  const seen: Now[] = [];
  for (const { session } of workers) {
    const now = nowOf(await readSeen(db, session.id));
    if (now) seen.push(now);
  }
  const last = seen.sort((a, b) => (a.at < b.at ? 1 : -1))[0];
  if (!last) return own;
  const count = seen.length === 1 ? '1 worker' : `${seen.length} workers`;
  return { ...own, activity: `${count}: ${last.activity}`, at: [own.at, last.at].sort()[1]! };
}
