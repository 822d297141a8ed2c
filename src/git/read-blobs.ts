/** Many blobs by one git process. */
import type { Git } from './exec.ts';

/** Contents by object id; one that is not there is left out. Larger ones than `maxBytes` are `null`. 1 git process. */
export async function readBlobs(
  git: Git,
  { cwd, ids, maxBytes }: { cwd: string; ids: readonly string[]; maxBytes: number },
): Promise<Map<string, Buffer | null>> {
  const wanted = [...new Set(ids)];
  const found = new Map<string, Buffer | null>();
  if (wanted.length === 0) return found;
  const stdin = `${wanted.join('\n')}\n`;
  const { stdout } = await git.run(['cat-file', '--batch'], { cwd, stdin });
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(10, at);
    const [id = '', type, size] = stdout.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (type !== 'blob' || size === undefined) {
      // Of anything but a blob the content is skipped too; of what is missing there is none.
      if (size !== undefined && type !== 'missing') at += Number(size) + 1;
      continue;
    }
    const length = Number(size);
    found.set(id, length > maxBytes ? null : stdout.subarray(at, at + length));
    at += length + 1;
  }
  return found;
}
