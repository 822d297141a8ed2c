/** Who commits, and whether git signs it. */
import type { Identity } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import { identityEnvironment } from './commit.ts';
import type { Git } from './exec.ts';
import { readIdentity } from './repository.ts';

/**
 * The author git is configured with. To sign is tried once, here, where a person can still unlock a key. Throws
 * `invalid_config` where git cannot. 1 git process, 2 where it signs.
 */
export async function chooseIdentity(
  git: Git,
  { root, head, sign }: { root: string; head: string; sign: boolean },
): Promise<Identity | null> {
  const identity = await readIdentity(git, root);
  if (!sign) return identity;
  const signing = { ...(identity ?? { name: 'Pulse', email: 'pulse@localhost' }), sign };
  const tried = await git.attempt(['commit-tree', '-S', `${head}^{tree}`], {
    cwd: root,
    env: identityEnvironment(signing),
    stdin: 'pulse: whether git can sign\n',
  });
  if (tried.code === 0) return signing;
  throw new PulseError(
    'invalid_config',
    `git cannot sign commits in ${root}: ${tried.stderr.trim().slice(-500)}`,
    {
      hint: 'Check gpg.format and user.signingKey, unlock the key, or set `git.sign: false`.',
    },
  );
}
