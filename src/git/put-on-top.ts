/** A commit made again on top of another, without a checkout. */
import { writeCommit } from './commit.ts';
import type { Git } from './exec.ts';
import { treeOf } from './git-dir.ts';
import { sortedPaths, splitNul } from './path-bytes.ts';
import { parseRaw } from './stage.ts';

/**
 * `onto` descends from the commit's only parent. `null` where the two conflict, or where git is older than 2.38 and cannot
 * tell. No ref moves. 2 git processes beside the kept one, 1 more where a commit is packed.
 */
export async function putCommitOnTop(
  git: Git,
  { root, commit, onto }: { root: string; commit: string; onto: string },
): Promise<{ commit: string; tree: string; files: string[] } | null> {
  const merged = await git.attempt(['merge-tree', '--write-tree', '--no-messages', onto, commit], {
    cwd: root,
  });
  if (merged.code !== 0) return null;
  const tree = merged.stdout.toString('utf8').trim();
  const said = await git.text(['cat-file', 'commit', commit], { cwd: root });
  const [headers = '', ...message] = said.split('\n\n');
  const [, name = '', email = ''] = /^author (.*) <(.*)> /m.exec(headers) ?? [];
  const sign = /^gpgsig/m.test(headers);
  const made = await writeCommit(git, {
    root,
    tree,
    parents: [onto],
    identity: { name, email, sign },
    message: `${message.join('\n\n').trimEnd()}\n`,
  });
  const from = await treeOf(git, { cwd: root, commit: onto });
  const changes = parseRaw(splitNul(await git.diffTrees(root, { from, to: tree })));
  return { commit: made, tree, files: sortedPaths(changes.map(({ path }) => path)) };
}
