/**
 * Where a session's work stands: `refs/pulse/head/<session>`, which nobody but Pulse moves. The branch that a person was
 * given follows it whenever it can: somebody may have it checked out, or may have moved it.
 */
import { PulseError } from '../domain/errors.ts';
import { type Git, gitFailure } from './exec.ts';
import { deleteRefs, findCheckout, isAncestor, listRefs, refPart, writeRefs } from './refs.ts';

export function headRef(session: string): string {
  return `refs/pulse/head/${refPart(session)}`;
}

export interface SessionRefs {
  root: string;
  session: string;
  /** Without `refs/heads/`. */
  branch: string;
}

export interface HeadMove extends SessionRefs {
  /** Where the session stood; `null`: it begins, and neither ref may exist. */
  from: string | null;
  to: string;
  /** Where Pulse left the branch, if not at `from`. */
  left?: string | null;
  /** More of Pulse's own refs, deleted in the same transaction; they may be gone already. */
  drop?: readonly string[];
}

/** A branch that did not follow. */
export interface BranchLag {
  /** `null`: it is gone. */
  at: string | null;
  checkedOutIn: string | null;
}

export type HeadMoved =
  | { is: 'moved'; lag: BranchLag | null }
  /** A person has committed on top of `from`: nothing was changed. */
  | { is: 'ahead'; at: string };

/**
 * Moves the head, and the branch with it if it stands where Pulse left it and is checked out nowhere. Doing it again is
 * no error. Throws `ref_moved` where the head itself stands elsewhere: a newer runner has moved it. 1 git process; more
 * where the branch does not follow.
 */
export async function advanceHead(git: Git, move: HeadMove): Promise<HeadMoved> {
  const { root, session, branch, from, to } = move;
  const left = move.left ?? from;
  const head = headRef(session);
  const ref = `refs/heads/${branch}`;
  const drop = (move.drop ?? []).map((name) => `delete ${name}\n`).join('');
  const update = (name: string, old: string | null): string =>
    `update ${name} ${to} ${old ?? '0'.repeat(to.length)}\n`;
  const holder = await findCheckout(git, root, ref);
  if (holder === null) {
    const moved = await git.updateRefs(root, update(head, from) + update(ref, left) + drop);
    if (moved.code === 0) return { is: 'moved', lag: null };
  }
  const { head: stood, branch: at } = await readBoth(git, move);
  if (from === null && at !== null && at !== to) throw taken(branch, at);
  if (stood !== to) {
    // At the head it was brought by another runner.
    const isKnown = at === null || [from, left, to, stood].includes(at);
    if (!isKnown && from !== null && (await isAncestor(git, root, from, at))) return { is: 'ahead', at };
    // A resume notes in the store alone what a person has committed.
    const isOlder = stood === null || (from !== null && (await isAncestor(git, root, stood, from)));
    if (!isOlder) throw movedByOther(session, { stood, from });
    await change(git, root, update(head, stood) + drop);
  } else if (drop !== '') await change(git, root, drop);
  if (at === to) return { is: 'moved', lag: null };
  if (holder === null && (at === left || at === from)) {
    await change(git, root, update(ref, at));
    return { is: 'moved', lag: null };
  }
  return { is: 'moved', lag: { at, checkedOutIn: holder } };
}

/** Of a session that begins on a branch that is there. May be repeated; a head that is there stays. 1 or 2 git processes. */
export async function ensureHead(
  git: Git,
  { root, session, to }: SessionRefs & { to: string },
): Promise<void> {
  const made = await git.updateRefs(root, `create ${headRef(session)} ${to}\n`);
  if (made.code === 0) return;
  if ((await listRefs(git, root, headRef(session))).length === 0)
    throw gitFailure(['update-ref', '--stdin'], made);
}

/** Tries once more to bring the branch to the head. `null`: it is there. May be repeated. 1 or 2 git processes. */
export async function followHead(
  git: Git,
  { left, ...refs }: SessionRefs & { left: string | null },
): Promise<BranchLag | null> {
  const { head, branch: at } = await readBoth(git, refs);
  if (head === null || at === head) return null;
  const ref = `refs/heads/${refs.branch}`;
  const checkedOutIn = await findCheckout(git, refs.root, ref);
  const isFree = checkedOutIn === null && at !== null && at === left;
  const moved = isFree ? await git.updateRefs(refs.root, `update ${ref} ${head} ${at}\n`) : null;
  return moved?.code === 0 ? null : { at, checkedOutIn };
}

/**
 * Where the session would go on: what a person has made of its branch, unless the branch only lags behind. `null`: there
 * is neither. 1 git process, 2 for one that lags.
 */
export async function readStand(
  git: Git,
  { isLagging, ...refs }: SessionRefs & { isLagging: boolean },
): Promise<string | null> {
  const { head, branch } = await readBoth(git, refs);
  if (head === null || branch === null) return branch ?? head;
  const isTheirs = !isLagging || (await isAncestor(git, refs.root, head, branch));
  return isTheirs ? branch : head;
}

/** As `readStand`; the head is moved there. May be repeated. */
export async function takeStand(
  git: Git,
  request: SessionRefs & { isLagging: boolean },
): Promise<string | null> {
  const stand = await readStand(git, request);
  if (stand !== null)
    await writeRefs(git, { root: request.root, refs: { [headRef(request.session)]: stand } });
  return stand;
}

/** Of a session that has ended: the branch is all that is needed, where it holds the work. 1 or 2 git processes. */
export async function dropHead(git: Git, refs: SessionRefs): Promise<void> {
  const { head, branch } = await readBoth(git, refs);
  if (head !== null && head === branch)
    await deleteRefs(git, { root: refs.root, refs: [headRef(refs.session)] });
}

async function readBoth(
  git: Git,
  { root, session, branch }: SessionRefs,
): Promise<{ head: string | null; branch: string | null }> {
  const names = [headRef(session), `refs/heads/${branch}`] as const;
  const found = new Map((await listRefs(git, root, ...names)).map(({ ref, sha }) => [ref, sha]));
  return { head: found.get(names[0]) ?? null, branch: found.get(names[1]) ?? null };
}

async function change(git: Git, root: string, lines: string): Promise<void> {
  const result = await git.updateRefs(root, lines);
  if (result.code !== 0) throw gitFailure(['update-ref', '--stdin'], result);
}

function taken(branch: string, at: string): PulseError {
  return new PulseError('ref_moved', `${branch} is at ${at}, expected none`, {
    hint: 'Somebody made a branch of this name meanwhile. Start again with another --branch.',
    data: { branch, actual: at },
  });
}

function movedByOther(session: string, data: { stood: string | null; from: string | null }): PulseError {
  return new PulseError('ref_moved', `${headRef(session)} is at ${data.stood}, expected ${data.from}`, {
    hint: `Pulse alone moves it. Put it back: git update-ref ${headRef(session)} ${data.from ?? '…'}`,
    data,
  });
}
