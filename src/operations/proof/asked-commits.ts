/** What `pulse verify` was asked about: a commit, a branch, or the commits of a range, and the branch that says who is believed. */
import { PulseError } from '../../domain/errors.ts';
import type { Git } from '../../git/exec.ts';
import { isObjectId } from '../../git/git-dir.ts';

export interface AskedCommit {
  commit: string;
  tree: string;
  /** The session that its trailer names. */
  session: string | null;
}

export interface AskedCommits {
  /** Oldest first; the last one is the tip. Of a range: those that Pulse made, and the tip. */
  commits: AskedCommit[];
  isRange: boolean;
  base: { name: string; commit: string } | null;
}

export interface CommitQuestion {
  root: string;
  /** A commit, a branch, or `A..B`. */
  what: string;
  /** Where `proof.keys` is read from; the remote's main branch where it is not given. */
  base?: string;
}

const MOST_COMMITS = 10_000;

/** `null`: it names nothing of the repository. Throws where the range, or the base, cannot be used. */
export async function findCommits(
  git: Git,
  { root, what, base }: CommitQuestion,
): Promise<AskedCommits | null> {
  const range = /^(.*?)\.\.(.*)$/s.exec(what);
  const [from, to] = range ? [range[1] || 'HEAD', range[2] || 'HEAD'] : [null, what];
  const tip = await resolveCommit(git, root, to);
  const start = from === null ? null : await resolveCommit(git, root, from);
  if (tip === null || (from !== null && start === null)) return null;
  const listed = start === null ? [tip] : await commitsBetween(git, { root, from: start, to: tip });
  const commits = await describe(git, root, listed);
  return {
    commits: commits.filter(({ commit, session }) => session !== null || commit === tip),
    isRange: range !== null,
    base: await findBase(git, root, base),
  };
}

async function resolveCommit(git: Git, root: string, name: string): Promise<string | null> {
  const answer = await git.attempt(['rev-parse', '--verify', '-q', '--end-of-options', `${name}^{commit}`], {
    cwd: root,
  });
  const id = answer.stdout.toString('utf8').trim();
  return answer.code === 0 && isObjectId(id) ? id : null;
}

async function commitsBetween(
  git: Git,
  { root, from, to }: { root: string; from: string; to: string },
): Promise<string[]> {
  const isShallow = await git.text(['rev-parse', '--is-shallow-repository'], { cwd: root });
  if (isShallow === 'true') {
    throw new PulseError('invalid_input', 'The clone is shallow, so a range may lack commits.', {
      hint: 'git fetch --unshallow brings the rest; in a CI job, check out with the whole history.',
    });
  }
  const args = ['rev-list', '--topo-order', '--reverse', `--max-count=${MOST_COMMITS + 1}`, `${from}..${to}`];
  const listed = (await git.text(args, { cwd: root })).split('\n').filter(Boolean);
  if (listed.length > MOST_COMMITS)
    throw new PulseError('too_large', `The range has more than ${MOST_COMMITS} commits.`);
  if (listed.length === 0) throw new PulseError('not_found', 'The range has no commit.');
  return listed;
}

async function describe(git: Git, root: string, ids: readonly string[]): Promise<AskedCommit[]> {
  const format = '--format=%H%x00%T%x00%(trailers:key=Pulse-Session,valueonly,separator=%x2c)%x00';
  const args = ['log', '--no-walk=unsorted', '--no-show-signature', '--stdin', format];
  const { stdout } = await git.run(args, { cwd: root, stdin: `${ids.join('\n')}\n` });
  const fields = stdout.toString('utf8').split('\0');
  return ids.map((_, index) => {
    const [commit = '', tree = '', session = ''] = fields.slice(3 * index, 3 * index + 3);
    return { commit: commit.trim(), tree, session: session.split(',')[0]!.trim() || null };
  });
}

/**
 * The branch whose config is believed: the one that is named, else the remote's main branch. Not the left side of a
 * range, which may be of the very branch that is judged (`HEAD~3..HEAD`); nor a local branch where there is a remote,
 * for a checkout of somebody's pull request can be called main, too.
 */
async function findBase(git: Git, root: string, given?: string): Promise<AskedCommits['base']> {
  if (given !== undefined) {
    const commit = await resolveCommit(git, root, given);
    if (commit !== null) return { name: given, commit };
    throw new PulseError('unknown_base', `"${given}" is no branch or commit of ${root}.`, {
      hint: '`git branch --all` lists the branches.',
    });
  }
  const hasRemote = (await git.text(['remote'], { cwd: root })) !== '';
  for (const name of hasRemote ? REMOTE_BASES : LOCAL_BASES) {
    const commit = await resolveCommit(git, root, name);
    if (commit !== null) return { name: name.replace(/^refs\/(?:heads|remotes)\//, ''), commit };
  }
  return null;
}

const REMOTE_BASES = ['HEAD', 'main', 'master'].map((name) => `refs/remotes/origin/${name}`);
const LOCAL_BASES = ['refs/heads/main', 'refs/heads/master'];
