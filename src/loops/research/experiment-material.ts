/** What an experiment's agent is shown of the repository: the newest commits and the files it may change. */
import type { Git } from '../../git/exec.ts';
import { pathText, splitNul } from '../../git/path-bytes.ts';

const COMMITS = 20;
const MOST_FILES = 200;

/** 2 git processes, and 1 for each file that is shown. */
export async function experimentMaterial(
  git: Git,
  {
    root,
    sha,
    isWanted,
    maxBytes,
  }: { root: string; sha: string; isWanted(path: string): boolean; maxBytes: number },
): Promise<{ log: string; files: { path: string; text: string }[]; more: string[] }> {
  const log = await git.text(['log', '--oneline', `-${COMMITS}`, sha], { cwd: root });
  const { stdout } = await git.run(['ls-tree', '-r', '-z', '-l', sha], { cwd: root });
  const entries = splitNul(stdout).flatMap((line) => {
    const found = /^\d+ blob [0-9a-f]+ +(\d+)\t(.*)$/s.exec(line);
    return found ? [{ size: Number(found[1]), path: pathText(found[2]!) }] : [];
  });
  const wanted = entries.filter(({ path }) => isWanted(path)).slice(0, MOST_FILES);
  const files: { path: string; text: string }[] = [];
  const more: string[] = [];
  let room = maxBytes;
  for (const { path, size } of wanted) {
    if (size > room) {
      more.push(path);
      continue;
    }
    room -= size;
    files.push({ path, text: await git.text(['show', `${sha}:${path}`], { cwd: root }) });
  }
  return { log, files, more };
}
