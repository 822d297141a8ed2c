/** Watches open pull requests through `gh`: a failing job or a comment starts a session on the branch. */
import { asPulseError, PulseError } from '../../domain/errors.ts';
import { TERMINAL_STATUSES } from '../../domain/status.ts';
import { appendEvents } from '../../store/events.ts';
import { changeRequest, takeRequest, type WatchedRequest } from '../../store/pull-requests.ts';
import { laterOnBranch } from '../../store/session-branches.ts';
import { findSession, type Session, updateSession } from '../../store/sessions.ts';
import { type Db, storeNow } from '../../store/store.ts';
import type { Operations, TransactionHook } from '../context.ts';
import { configOfSession } from '../project.ts';
import { earlierOnBranch } from './bring-in.ts';
import { followUp } from './follow.ts';
import { runGh } from './gh.ts';
import { pushAsPerson } from './pull-request.ts';
import {
  countNews,
  goalOf,
  LineRemarks,
  type News,
  PullRequestView,
  type Read,
  readNews,
  VIEW_FIELDS,
} from './pull-request-news.ts';

export interface Watching {
  say(text: string): void;
  /** Written with a session that is started here: its runner is this process. */
  take: TransactionHook;
  runSession(sessionId: string): void;
}

const LEASE_MS = 5 * 60_000;
const AGAIN_MS = 60_000;
const AFTER_TROUBLE_MS = 10 * 60_000;
/** As much of what was seen is remembered; a page of comments has fewer. */
const MOST_SEEN = 2_000;

interface Looking extends Watching {
  operations: Operations;
  request: WatchedRequest;
}

/** Looks at each whose time has come, one after the other; what goes wrong with one is noted in its row. */
export async function watchPullRequests(operations: Operations, how: Watching): Promise<void> {
  const { store, owner, owners } = operations.engine;
  const isGone = (other: string): boolean => other === owner || owners(other) === 'dead';
  for (;;) {
    const request = await store.tx('watch', (db) => takeRequest(db, { owner, leaseMs: LEASE_MS, isGone }));
    if (!request) return;
    const looking = { operations, request, ...how };
    try {
      if (request.isOver) await endWatch(looking, 'over', 'no longer watched');
      else await look(looking);
    } catch (error) {
      const { message, hint } = asPulseError(error);
      const trouble = operations.redactor.redact([message, hint].filter(Boolean).join(' ')).slice(0, 1_000);
      if (trouble !== request.trouble) how.say(`${request.address}: ${trouble}`);
      await note(looking, { trouble }, AFTER_TROUBLE_MS);
    }
  }
}

/** The row, in the transaction of what follows from it; with a time it is given back. */
async function note(
  { operations: { engine }, request }: Looking,
  change: Parameters<typeof changeRequest>[2],
  lookAgainMs: number,
): Promise<void> {
  const { owner } = engine;
  const of = { sessionId: request.session_id, owner, lookAgainMs };
  await engine.store.tx('watch', (db) => changeRequest(db, of, change));
}

async function look(looking: Looking): Promise<void> {
  const { operations, request } = looking;
  const { store, workspace } = operations.engine;
  const { first, newest } = await store.read(async (db) => {
    const session = await findSession(db, request.session_id);
    const later = session && (await laterOnBranch(db, session));
    return { first: session, newest: later ? await findSession(db, later) : session };
  });
  if (!first || !newest || first.discarded_at !== null) return endWatch(looking, 'over', 'no longer watched');
  // A follow-up, or another session that a person started there, has the branch.
  if (!TERMINAL_STATUSES.includes(newest.status)) return note(looking, {}, AGAIN_MS);
  const tip = await workspace.branchHead(newest);
  let pushed = request.pushed_sha;
  if (newest.id === request.follow_up && newest.status === 'complete' && tip !== null && tip !== pushed) {
    const { values } = await configOfSession(operations, newest);
    const { project_path: root, branch_name: branch } = newest;
    await pushAsPerson(operations, { root, remote: values.remote, branch });
    pushed = tip;
  }
  const view = await viewRequest(operations, { root: first.project_path, address: request.address });
  if (view.state === 'MERGED') return endWatch(looking, 'merged', 'merged', view.mergeCommit?.oid ?? null);
  if (view.state !== 'OPEN') return endWatch(looking, 'closed', 'closed without a merge');
  const read = readNews(
    view,
    await lineRemarks(operations, { root: first.project_path, address: request.address }),
  );
  const known = new Set(request.seen);
  const news = read.news.filter(({ id }) => !known.has(id));
  const seen = remembered(request.seen, read);
  if (news.length === 0) return note(looking, { seen, pushed_sha: pushed, trouble: null }, AGAIN_MS);
  if (request.rounds_used >= request.rounds)
    return endWatch(looking, 'over', `no longer watched: ${request.rounds} rounds are used`);
  await answer(looking, { newest, news, seen, pushed });
}

function remembered(before: readonly string[], { news, strangers }: Read): string[] {
  const all = new Set([...before, ...news.map(({ id }) => id), ...strangers]);
  return [...all].slice(-MOST_SEEN);
}

interface Answer {
  newest: Session;
  news: readonly News[];
  seen: string[];
  pushed: string | null;
}

/** The session, and that this was seen, are one transaction: nothing is answered twice. */
async function answer(looking: Looking, { newest, news, seen, pushed }: Answer): Promise<void> {
  const { operations, request, take, runSession, say } = looking;
  const { owner } = operations.engine;
  const round = request.rounds_used + 1;
  const reason = countNews(news);
  const { session } = await followUp(operations, newest.id, {
    goal: goalOf(request.address, news),
    actor: 'pulse',
    createdBy: 'api',
    async within(db, id) {
      const of = { sessionId: request.session_id, owner, lookAgainMs: AGAIN_MS };
      const change = { rounds_used: round, seen, follow_up: id, pushed_sha: pushed, trouble: null };
      if (!(await changeRequest(db, of, change)))
        throw new PulseError('fenced', `${request.address} is watched by another process.`);
      const data = { address: request.address, by: id, round, reason };
      await appendEvents(db, request.session_id, [{ type: 'pull_request.answered', data }]);
      await take(db, id);
    },
  });
  say(`${request.address}: ${reason}: ${session.id} works on it`);
  runSession(session.id);
}

async function endWatch(
  { operations, request }: Looking,
  state: WatchedRequest['state'],
  word: string,
  mergedSha: string | null = null,
): Promise<void> {
  const { store, owner } = operations.engine;
  const { session_id: sessionId, address } = request;
  await store.tx(
    'watch',
    async (db) => {
      if (!(await changeRequest(db, { sessionId, owner, lookAgainMs: 0 }, { state, trouble: null }))) return;
      if (!(await findSession(db, sessionId))) return;
      await appendEvents(db, sessionId, [{ type: 'pull_request.closed', data: { address, state: word } }]);
      if (state === 'merged') await noteMerged(db, { sessionId, follow: request.follow_up, sha: mergedSha });
    },
    { session: sessionId },
  );
}

/** Of the session, of its follow-up, and of those between. */
async function noteMerged(
  db: Db,
  { sessionId, follow, sha }: { sessionId: string; follow: string | null; sha: string | null },
): Promise<void> {
  const last = (await findSession(db, follow ?? sessionId)) ?? (await findSession(db, sessionId))!;
  for (const session of [last, ...(await earlierOnBranch(db, last))]) {
    // A follow-up that a person dropped stays dropped.
    if (session.merged_at !== null || session.discarded_at !== null) continue;
    const { id, base_branch: base } = session;
    await updateSession(db, id, {
      ...{ merged_at: storeNow(), merged_by: 'pull request', merged_how: 'pr' },
      ...{ merged_into: base, merged_sha: sha },
    });
    const data = { base, sha: sha ?? '', how: 'pr', actor: 'pull request' };
    await appendEvents(db, id, [{ type: 'session.merged', data }]);
  }
}

interface Place {
  root: string;
  address: string;
}

async function viewRequest({ environment }: Operations, { root, address }: Place): Promise<PullRequestView> {
  const args = ['pr', 'view', address, '--json', VIEW_FIELDS];
  const said = await runGh({ environment, root, args });
  if (said === null)
    throw new PulseError('tool_failed', 'The pull request is not watched: gh is not installed.', {
      hint: 'Install the GitHub CLI where `pulse serve` runs.',
    });
  if (said.code !== 0)
    throw new PulseError(
      'tool_failed',
      `gh could not show the pull request: ${said.stderr.trim().slice(-500)}`,
    );
  const view = PullRequestView.safeParse(jsonOf(said.stdout));
  if (view.success) return view.data;
  throw new PulseError('tool_failed', 'gh answered with something that Pulse does not understand.', {
    cause: view.error,
  });
}

/** Remarks on single lines are not in the view. One that cannot be asked for them has none. */
async function lineRemarks({ environment }: Operations, { root, address }: Place): Promise<LineRemarks> {
  const [, host, owner, name, number] =
    /^https?:\/\/([\w.-]+(?::\d+)?)\/([\w.-]+)\/([\w.-]+)\/pull\/(\d+)/.exec(address) ?? [];
  if (host === undefined) return [];
  const path = `repos/${owner}/${name}/pulls/${number}/comments?per_page=100`;
  const said = await runGh({ environment, root, args: ['api', '--hostname', host, path] });
  if (said?.code !== 0) return [];
  const remarks = LineRemarks.safeParse(jsonOf(said.stdout));
  return remarks.success ? remarks.data : [];
}

/** `undefined` for what is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
