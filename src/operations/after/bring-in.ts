/** Brings a session's work into its base, and notes it: at review, and for any session that is complete. */
import { formatTrust, type Trust } from '../../domain/check-words.ts';
import { PulseError } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/events.ts';
import { type MergeMode, mergeBranch } from '../../git/merge.ts';
import { headRef } from '../../git/session-head.ts';
import { type Unresolved, unresolvedLines } from '../../loops/workflow/unresolved.ts';
import { isGitRunning } from '../../process/is-git-running.ts';
import { appendEvents } from '../../store/events.ts';
import { watchRequest } from '../../store/pull-requests.ts';
import { findSession, getControl, type Session, updateSession } from '../../store/sessions.ts';
import { type Db, storeNow } from '../../store/store.ts';
import type { Operations } from '../context.ts';
import { configOfSession } from '../project.ts';
import { openPullRequest } from './pull-request.ts';

export type BringMode = MergeMode | 'pr';

/** What the config does not say. */
const WATCHED = { rounds: 3, days: 7 };

export interface Bringing {
  session: Session;
  base: string;
  mode: BringMode;
  title: string;
  body: string;
  /** What the person types to try once more, in this mode or another. */
  again(mode: MergeMode): string;
}

export interface BroughtIn {
  base: string;
  /** Where the base stands now; of a pull request: what was pushed. */
  sha: string;
  checkout: string | null;
  said: string;
  how: BringMode;
  /** The base had it before. */
  wasThere: boolean;
  /** `null`: none is known to be open. */
  pullRequest: OfferedRequest | null;
}

export interface OfferedRequest {
  address: string;
  /** For how many follow-ups and days it is watched. */
  rounds: number;
  days: number;
}

/** May be repeated: what was merged, or opened, by one that died is recognised. */
export async function bringIn(
  operations: Operations,
  { session, base, mode, title, body, again }: Bringing,
): Promise<BroughtIn> {
  const { project_path: root, branch_name: branch } = session;
  const isBehind =
    session.branch_lags_at !== null && (await operations.engine.workspace.follow(session)) !== null;
  if (mode === 'pr' && isBehind) {
    throw new PulseError('ref_moved', `${branch} could not follow the session, so it cannot be pushed.`, {
      hint: `Bring it to ${headRef(session.id)} (git switch to another branch, or merge it), then try again.`,
    });
  }
  if (mode === 'pr') {
    const { values } = await configOfSession(operations, session);
    const request = { root, remote: values.remote, base, branch, title, body };
    const { said, address } = await openPullRequest(operations, request);
    const sha = (await operations.engine.workspace.branchHead(session)) ?? session.base_sha;
    const pullRequest = address === null ? null : { address, ...WATCHED, ...values.watchPr };
    return { base, sha, checkout: null, said, how: mode, wasThere: false, pullRequest };
  }
  const { settings } = await operations.engine.store.read((db) => getControl(db, session.id));
  const { wasThere, ...merged } = await mergeBranch(operations.git, {
    root,
    base,
    branch,
    ...(isBehind ? { tip: headRef(session.id) } : {}),
    mode,
    subject: mode === 'squash' ? title : `Merge ${branch}: ${title}`,
    body,
    trailers: { 'Pulse-Session': session.id },
    identity: settings.identity,
    again,
    isAtWork: isGitRunning,
  });
  const said = wasThere ? `${base} has it already.` : `${base} is at ${merged.sha.slice(0, 10)} now.`;
  return { base, ...merged, said, how: mode, wasThere, pullRequest: null };
}

/** In one transaction with what else follows from it. What the row says already is not told again. */
export async function noteBroughtIn(
  db: Db,
  session: Session,
  { brought, actor }: { brought: BroughtIn; actor: string },
): Promise<void> {
  const { base, sha, how, wasThere, pullRequest } = brought;
  if (how === 'pr') {
    if (pullRequest === null || pullRequest.address === session.pull_request) return;
    const { address, rounds, days } = pullRequest;
    await updateSession(db, session.id, { pull_request: address });
    if (rounds > 0 && days > 0)
      await watchRequest(db, { sessionId: session.id, address, rounds, days, pushedSha: sha });
    const data = { address, base, sha, actor };
    await appendEvents(db, session.id, [{ type: 'pull_request.opened', data }]);
    return;
  }
  if (wasThere && session.merged_at !== null) return;
  const merged: NewEvent = { type: 'session.merged', data: { base, sha, how, actor } };
  // Those that it continues are on the same branch.
  const all = [session, ...(await earlierOnBranch(db, session))];
  for (const { id } of all) {
    await updateSession(db, id, {
      merged_at: storeNow(),
      merged_by: actor,
      merged_how: how,
      merged_into: base,
      merged_sha: sha,
    });
    await appendEvents(db, id, [merged]);
  }
}

/** The sessions that it follows, on one branch into one base, and that are not merged yet; the newest first. */
export async function earlierOnBranch(db: Db, session: Session): Promise<Session[]> {
  const found: Session[] = [];
  for (let at: Session | null = session; at?.follows; ) {
    const earlier: Session | null = await findSession(db, at.follows);
    const isSame =
      earlier?.branch_name === session.branch_name && earlier.base_branch === session.base_branch;
    if (!earlier || !isSame || earlier.merged_at !== null) break;
    found.push(earlier);
    at = earlier;
  }
  return found;
}

/** A reader of the merge, or of its pull request, learns it too. */
export function unresolvedPart(unresolved: readonly Unresolved[]): string[] {
  const lines = unresolvedLines(unresolved).map((line) => `- ${line}`);
  return lines.length === 0 ? [] : ['', 'Not resolved:', ...lines];
}

/** A reader takes it for verified where nothing is said. */
export function trustPart(trust: Trust | null): string[] {
  return trust === null || trust === 'verified' ? [] : ['', `Pulse says: ${formatTrust(trust)}.`];
}
