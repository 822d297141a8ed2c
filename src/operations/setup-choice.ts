/** What a worktree of a project is prepared with: what the config says, else what the lockfiles call for. */
import { detectSetup } from '../project/setup.ts';

/** `given`: of the config. Of the checkout as it is: a lockfile that is not committed counts, too. */
export async function setupChoice(
  root: string,
  given: readonly string[] | undefined,
): Promise<readonly string[]> {
  return given ?? (await detectSetup(root));
}
