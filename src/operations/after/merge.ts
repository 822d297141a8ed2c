/** `merge`: a complete session of any loop goes into its base, by the rules of a review. */
import { leastTrust, type Trust, trustOf } from '../../domain/check-words.ts';
import { PulseError } from '../../domain/errors.ts';
import { nextCommand } from '../../domain/next-command.ts';
import { redact } from '../../domain/redact.ts';
import { act } from '../../engine/actions.ts';
import { listUnresolved } from '../../loops/workflow/unresolved-rows.ts';
import { getSession, type Session } from '../../store/sessions.ts';
import type { Operations, TransactionHook } from '../context.ts';
import { ownSession } from '../control.ts';
import { keptWork } from '../kept-work.ts';
import {
  type BringMode,
  type BroughtIn,
  bringIn,
  earlierOnBranch,
  noteBroughtIn,
  trustPart,
  unresolvedPart,
} from './bring-in.ts';
import { holdStopped } from './hold.ts';
import { requireLastOnBranch } from './session-parts.ts';

const TITLE_LENGTH = 100;

export interface MergedSession {
  session: Session;
  /** `null`: there was nothing to merge. */
  merged: BroughtIn | null;
  said: string;
}

/** Merges, then says so in the row. Dead in between, it is asked for again, and what was merged is recognised. */
export async function mergeSession(
  operations: Operations,
  id: string,
  { how, actor, within }: { how: BringMode; actor: string; within?: TransactionHook },
): Promise<MergedSession> {
  const { store, trace } = operations.engine;
  const asked = ownSession(await store.read((db) => getSession(db, id)), 'merge');
  requireComplete(asked);
  await using _held = await holdStopped(operations, asked.id);
  // Somebody may have discarded it meanwhile.
  const { session, all } = await store.read(async (db) => {
    const now = await getSession(db, asked.id);
    await requireLastOnBranch(db, now, 'merge');
    return { session: now, all: [...(await earlierOnBranch(db, now)).reverse(), now] };
  });
  const without = withoutMerge(session) ?? (await unchanged(operations, all));
  const merged = without
    ? null
    : await act(trace, 'merge', {
        perform: async () =>
          bringIn(operations, {
            ...{ session, base: requireBase(session), mode: how, ...(await messageOf(operations, all)) },
            again: (way) => `pulse merge ${session.id} --merge ${way}`,
          }),
      });
  const after = await store.tx(
    'merge',
    async (db) => {
      if (merged) await noteBroughtIn(db, session, { brought: merged, actor });
      await within?.(db, session.id);
      return getSession(db, session.id);
    },
    { session: session.id },
  );
  return { session: after, merged, said: merged?.said ?? without! };
}

/** The base has it where it was merged, not here: merged here as well, the two would go apart. */
function withoutMerge({ id, merged_how, merged_into: base, pull_request: address }: Session): string | null {
  if (merged_how !== 'pr') return null;
  const request = address === null ? 'its pull request' : `its pull request ${address}`;
  return `${id} was merged into ${base} by ${request}: git switch ${base} && git pull brings it here.`;
}

/** In words, where there is nothing to merge. */
async function unchanged(operations: Operations, all: readonly Session[]): Promise<string | null> {
  const { workspace } = operations.engine;
  const session = all.at(-1)!;
  requireBase(session);
  const head = await workspace.branchHead(session);
  // What is merged may be cleaned up: asked for once more it is there all the same.
  if (head === null && session.merged_at !== null) return `${session.merged_into} has it already.`;
  if (head === null) throw await branchGone(operations, session);
  if (!(await workspace.isUnchanged(all[0]!, head))) return null;
  return `${session.id} changed nothing: there is nothing to merge.`;
}

function requireComplete(session: Session): void {
  const { id, status, branch_name: branch } = session;
  if (status === 'complete') return;
  const hint =
    status === 'aborted'
      ? `git merge ${branch} brings in what it has.`
      : nextCommand(session, { isDriven: status === 'running' })?.command;
  throw new PulseError('invalid_transition', `${id} is ${status}: only what is complete is merged.`, {
    hint,
  });
}

function requireBase({ id, base_branch: base, branch_name: branch }: Session): string {
  if (base !== null) return base;
  throw new PulseError('invalid_transition', `${id} began on no branch, so there is nothing to merge into.`, {
    hint: `git merge ${branch} brings it wherever you want it.`,
  });
}

/** With how it can be had back. */
export async function branchGone({ git }: Operations, session: Session): Promise<PulseError> {
  const { id, branch_name: branch, discarded_at: at, merged_into: base } = session;
  const kept = await keptWork(git, session);
  const [back] = kept.filter(({ command }) => command.startsWith(`git branch ${branch} `)).slice(-1);
  const how = back ? `${back.command} brings it back.` : `pulse status ${id} shows what is kept of it.`;
  const gone = base === null ? 'discarded' : `merged into ${base}, and was removed after that`;
  return new PulseError('not_found', `The branch ${branch} of ${id} is ${at ? gone : 'gone'}.`, {
    hint: at || back ? how : `Was it deleted or renamed? ${how}`,
  });
}

/** Of the session and of those that it follows, the first of which gives the title. */
async function messageOf({ engine: { store } }: Operations, all: readonly Session[]) {
  const listed = await store.read((db) =>
    listUnresolved(
      db,
      all.map(({ id }) => id),
    ),
  );
  const [title = ''] = redact(all[0]!.goal).trim().split('\n');
  const trusts = all.flatMap((session) => trustOf(session) ?? []);
  const trust = trusts.reduce<Trust | null>(leastTrust, null);
  const body = all
    .flatMap(({ progress_log: log }) => log)
    .flatMap(({ commit, summary }) => (commit && summary ? [`- ${redact(summary).split('\n')[0]}`] : []))
    .concat(unresolvedPart([...listed.values()].flat()), trustPart(trust))
    .join('\n')
    .trim();
  return { title: title.slice(0, TITLE_LENGTH), body };
}
