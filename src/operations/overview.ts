/** All sessions as a person finds them in the morning: what needs them, what failed, what runs, what is done. */
import { ATTENTION_GROUPS, type AttentionGroup, attentionOf } from '../domain/attention.ts';
import { nextCommand } from '../domain/next-command.ts';
import type { Doing } from '../domain/phase.ts';
import { listUnresolved } from '../loops/workflow/unresolved-rows.ts';
import { countUnread } from '../store/notes.ts';
import {
  briefSessions,
  listLive,
  listStopped,
  type SessionBrief,
  type SomeSessions,
} from '../store/overview.ts';
import { shortNames } from '../store/session-ids.ts';
import type { SessionRequest } from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import { holderOf, type Reading, type RunnerState, readDoing } from './view.ts';

export interface OverviewEntry extends SessionBrief {
  runner: RunnerState;
  /** The shortest ending of the id that is enough to name it. */
  short: string;
  /** What happens in it at this moment. */
  doing: Doing | null;
  /** How many issues its pulses were accepted with. */
  unresolved: number;
  /** What it was asked for and has not done yet. */
  request: SessionRequest | null;
  /** Notes that no agent has got to read. */
  unreadNotes: number;
  /** The command that continues it; `null`: it has ended. */
  next: { label: string; command: string } | null;
}

export interface Overview {
  groups: Record<AttentionGroup, OverviewEntry[]>;
  /** How many each group has in all; no more than `GROUP_SIZE` of them are shown. */
  counts: Record<AttentionGroup, number>;
}

export const GROUP_SIZE = 50;
/** What was done longer ago is history. */
const DONE_WITHIN_MS = 24 * 3_600_000;

/** A few bounded questions to the store, however many sessions it holds. */
export async function viewOverview({ engine, redactor }: Reading): Promise<Overview> {
  return engine.store.read(async (db) => {
    const { runners, requests, ...live } = await liveGroups(db, engine.owners);
    const limit = GROUP_SIZE;
    const stopped = {
      needs_you: await listStopped(db, { statuses: ['blocked', 'paused'], limit }),
      failed: await listStopped(db, { statuses: ['failed'], limit }),
      done: await listStopped(db, {
        statuses: ['complete', 'aborted'],
        limit,
        endedWithinMs: DONE_WITHIN_MS,
      }),
    };
    const found = { ...live, ...stopped };
    const ids = Object.values(found).flatMap(({ sessions }) => sessions.map(({ id }) => id));
    const names = await shortNames(db, ids);
    const left = await listUnresolved(db, ids);
    const unread = await countUnread(db, ids);
    const doing = new Map<string, Doing | null>();
    for (const session of [...live.running.sessions, ...live.waiting.sessions.filter(isQueued)])
      doing.set(session.id, await readDoing(db, session));
    const entry = (session: SessionBrief): OverviewEntry => {
      const runner = runners.get(session.id) ?? 'none';
      const short = names.get(session.id)!;
      const unresolved = left.get(session.id)?.length ?? 0;
      return {
        ...session,
        runner,
        short,
        doing: doing.get(session.id) ?? null,
        unresolved,
        request: requests.get(session.id) ?? null,
        unreadNotes: unread.get(session.id) ?? 0,
        next: nextCommand(session, { isDriven: runner !== 'none' }),
      };
    };
    const by = <T>(value: (group: AttentionGroup) => T) =>
      Object.fromEntries(ATTENTION_GROUPS.map((group) => [group, value(group)])) as Record<AttentionGroup, T>;
    return redactor.redactJson({
      groups: by((group) => found[group].sessions.map(entry)),
      counts: by((group) => found[group].count),
    });
  });
}

/** A wait for a service is told by its own words. */
function isQueued({ resume_at }: SessionBrief): boolean {
  return resume_at === null;
}

type LiveGroup = 'no_runner' | 'waiting' | 'running';
type Live = Record<LiveGroup, SomeSessions> & {
  runners: Map<string, RunnerState>;
  requests: Map<string, SessionRequest | null>;
};

async function liveGroups(db: Db, owners: Reading['engine']['owners']): Promise<Live> {
  const ids: Record<LiveGroup, string[]> = { no_runner: [], waiting: [], running: [] };
  const runners = new Map<string, RunnerState>();
  const requests = new Map<string, SessionRequest | null>();
  for (const { id, lease, request, ...standing } of await listLive(db)) {
    const runner = holderOf(lease, owners);
    runners.set(id, runner);
    requests.set(id, request);
    ids[attentionOf(standing, { isDriven: runner !== 'none' }) as LiveGroup].push(id);
  }
  const shown = async (group: LiveGroup): Promise<SomeSessions> => ({
    sessions: await briefSessions(db, ids[group].slice(0, GROUP_SIZE)),
    count: ids[group].length,
  });
  return {
    no_runner: await shown('no_runner'),
    waiting: await shown('waiting'),
    running: await shown('running'),
    ...{ runners, requests },
  };
}
