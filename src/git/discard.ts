/** Takes the refs of a session away in one step, and keeps what they named under recovery refs. */
import { PUT_BACK } from '../domain/after-words.ts';
import type { Identity } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import { identityEnvironment } from './commit.ts';
import type { Git } from './exec.ts';
import { findCheckout, type ListedRef, listRefs, recoveryPrefix, refPart } from './refs.ts';
import { headRef } from './session-head.ts';

export interface SessionPlace {
  root: string;
  session: string;
  /** Without `refs/heads/`: the session's own first, then those of its parts. */
  branches: readonly string[];
  /** The session's own branch is put back there instead of deleted: an earlier session has the rest of it. */
  back: string | null;
}

export interface DiscardRequest extends SessionPlace {
  /** By whom, as the recovery refs tell it. */
  actor: string;
  identity: Identity | null;
  nowMs: number;
}

/** What would go; a branch that is where it would be put back to stays. 1 git process. */
export async function discardable(
  git: Git,
  { root, session, branches, back }: SessionPlace,
): Promise<ListedRef[]> {
  const id = refPart(session);
  const own = ['wip', 'agent', 'discarded'].map((kind) => `refs/pulse/${kind}/${id}/`);
  const heads = branches.map((branch) => `refs/heads/${branch}`);
  const wanted = [headRef(session), ...heads];
  // A name is also a prefix of others: `x` of `x/y`.
  const found = await listRefs(git, root, ...wanted, ...own);
  return found.filter(({ ref, sha }) => {
    if (ref === heads[0] && sha === back) return false;
    return wanted.includes(ref) || own.some((prefix) => ref.startsWith(prefix));
  });
}

/**
 * All of them, or none. Each is kept as a tag object that says when: the time they are kept for begins now, however old
 * their commits are. Returns the recovery refs. Throws `invalid_transition` for a branch that is checked out, `ref_moved`
 * where one moves meanwhile. Doing it again finds nothing left. 1 git process, and one for each ref that goes.
 */
export async function discardRefs(git: Git, request: DiscardRequest): Promise<string[]> {
  const { root, session, branches, back } = request;
  for (const branch of branches) await refuseCheckedOut(git, root, branch);
  const own = `refs/heads/${branches[0]}`;
  const refs = await discardable(git, request);
  if (refs.length === 0) return [];
  const taken = new Set((await listRefs(git, root, recoveryPrefix(session))).map(({ ref }) => ref));
  const kept: string[] = [];
  const lines: string[] = [];
  for (const { ref, sha } of refs) {
    const isPutBack = ref === own && back !== null;
    const kind = isPutBack ? PUT_BACK : 'branches';
    const name = freeName(recoveryName(session, ref, kind), taken);
    const tag = await git.text(['mktag'], { cwd: root, stdin: tagText(request, { ref, sha }) });
    lines.push(`create ${name} ${tag}\n`);
    lines.push(isPutBack ? `update ${ref} ${back} ${sha}\n` : `delete ${ref} ${sha}\n`);
    kept.push(name);
    taken.add(name);
  }
  const moved = await git.updateRefs(root, lines.join(''));
  if (moved.code === 0) return kept;
  throw new PulseError('ref_moved', `Something of ${session} moved while it was being discarded.`, {
    hint: `Nothing was changed: pulse discard ${session} again. (${moved.stderr.trim().slice(0, 300)})`,
  });
}

/**
 * `refs/heads/x` of a session is kept as `…/branches/x`, what is Pulse's own by its kind. A branch that stays has another
 * kind, for it cannot come back by its own name.
 */
function recoveryName(session: string, ref: string, branches: string): string {
  const prefix = recoveryPrefix(session);
  if (ref.startsWith('refs/heads/')) return `${prefix}${branches}/${ref.slice('refs/heads/'.length)}`;
  const [kind = '', , ...rest] = ref.slice('refs/pulse/'.length).split('/');
  return [`${prefix}${kind}`, ...rest].join('/');
}

/** A branch that was brought back and is discarded again does not take the place of the first. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}.${count}`;
  return free;
}

function tagText(
  { session, actor, identity, nowMs }: DiscardRequest,
  { ref, sha }: { ref: string; sha: string },
) {
  const { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email } = identityEnvironment(identity);
  const who = actor.replace(/[\p{Cc}]/gu, ' ').slice(0, 200);
  return [
    `object ${sha}`,
    'type commit',
    'tag pulse-discarded',
    `tagger ${name} <${email}> ${Math.floor(nowMs / 1000)} +0000`,
    '',
    `${ref} of ${session}, discarded by ${who}\n`,
  ].join('\n');
}

/** A checkout of it would stand on nothing. */
export async function refuseCheckedOut(git: Git, root: string, branch: string): Promise<void> {
  const checkout = await findCheckout(git, root, `refs/heads/${branch}`);
  if (checkout === null) return;
  throw new PulseError('invalid_transition', `${branch} is checked out in ${checkout}.`, {
    hint: `Nothing was changed. Run: git -C ${checkout} switch --detach, or switch to another branch.`,
    data: { branch, checkedOutIn: checkout },
  });
}
