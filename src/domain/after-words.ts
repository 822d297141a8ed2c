/** What becomes of a session's work after its end, in the words that people write and read. Nothing is loaded here. */

/** How a base gets the work. */
export const MERGE_MODES = ['ff', 'merge', 'squash', 'pr'] as const;

/** What ended longer ago is old, unless a person says otherwise. */
export const OLD_AFTER_MS = 24 * 60 * 60 * 1000;

export interface After {
  nothing_changed: boolean;
  merged_at: string | null;
  merged_into: string | null;
  pull_request: string | null;
  discarded_at: string | null;
}

/** `null`: nothing has become of it yet. */
export function describeAfter(after: After): string | null {
  // Its branch may be gone since: the work is not.
  if (after.merged_at) return `merged into ${after.merged_into}`;
  if (after.discarded_at) return 'discarded';
  if (after.pull_request) return 'pull request opened';
  return after.nothing_changed ? 'nothing changed' : null;
}

/** How the work on a branch is kept that an earlier session has still: the branch itself went back to there. */
export const PUT_BACK = 'put-back';

/** The command that brings kept work back, as a branch. */
export function wayBack(ref: string): string {
  const [, session = '', kind, branch] = /^refs\/pulse\/recovery\/([^/]+)\/([^/]+)\/(.+)$/.exec(ref) ?? [];
  if (kind === 'branches') return `git branch ${branch} ${ref}`;
  // The branch is there: under its own name the command would fail.
  if (kind === PUT_BACK) return `git branch ${branch}-${session.slice(-4)} ${ref}`;
  const name = ref.replace(/^refs\/pulse\/recovery\/(?:ses_)?(?:[^/]*-)?/, '').replaceAll('/', '-');
  return `git branch recovered-${name} ${ref}`;
}

/** Behind a status: with a comma, or empty. */
export function afterSuffix(after: After): string {
  const word = describeAfter(after);
  return word === null ? '' : `, ${word}`;
}
