import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { createGit } from '../../src/git/exec.ts';
import { openRepository } from '../../src/git/repository.ts';
import { resolveHome } from '../../src/home.ts';
import { capture } from '../../src/process/capture.ts';
import { recordTrust } from '../../src/trust.ts';

/** Writes a repository's own config, and says that it is trusted: what `pulse trust --yes` does. */
export async function writeTrustedConfig(
  root: string,
  { text, environment }: { text: string; environment: NodeJS.ProcessEnv },
): Promise<void> {
  mkdirSync(join(root, '.pulse'), { recursive: true });
  writeFileSync(join(root, '.pulse/config.yaml'), text);
  const git = createGit({ exec: (call) => capture({ file: 'git', ...call }), env: environment });
  const project = await openRepository(git, root);
  const { project: file } = await loadConfig(project.root, environment);
  await recordTrust(resolveHome(environment), project, { file: file!, actor: 'test' });
}
