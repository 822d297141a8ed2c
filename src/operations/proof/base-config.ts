/** What the base branch's config says of proofs, read from git: a pull request cannot add a key of its own. */
import { PROJECT_CONFIG_NAMES, parseSettings } from '../../config.ts';
import { PulseError } from '../../domain/errors.ts';
import type { Git } from '../../git/exec.ts';
import { type PublicProofKey, readPublicKey } from '../../referee/proof/key.ts';
import { commandOf } from '../check-choices.ts';
import type { AskedCommits } from './asked-commits.ts';

export interface BaseConfig {
  keys: PublicProofKey[];
  verify: string[];
}

const MOST_BYTES = 1024 * 1024;

/** Nothing where there is no base, or no config in it. Throws `invalid_config`. */
export async function readBaseConfig(
  git: Git,
  root: string,
  base: AskedCommits['base'],
): Promise<BaseConfig> {
  const nothing = { keys: [], verify: [] };
  if (base === null) return nothing;
  for (const path of PROJECT_CONFIG_NAMES) {
    const text = await readAt(git, { root, commit: base.commit, path });
    if (text === null) continue;
    const source = `${path} of ${base.name}`;
    const { proof, verify = [] } = parseSettings(text, source);
    const keys = (proof?.keys ?? []).map((key) => readPublicKey(key, `A key in ${source}`));
    return { keys, verify: verify.map(commandOf) };
  }
  return nothing;
}

async function readAt(
  git: Git,
  { root, commit, path }: { root: string; commit: string; path: string },
): Promise<string | null> {
  const { stdout } = await git.run(['ls-tree', '-z', '--full-tree', commit, '--', path], { cwd: root });
  const [mode, type, id] = stdout.toString('latin1').split('\t')[0]!.split(' ');
  if (!id) return null;
  const size = Number(await git.text(['cat-file', '-s', id], { cwd: root }));
  if (type !== 'blob' || !mode?.startsWith('100') || size > MOST_BYTES)
    throw new PulseError('invalid_config', `${path} of the base is no ordinary file, or too large.`);
  return (await git.run(['cat-file', 'blob', id], { cwd: root })).stdout.toString('utf8');
}
