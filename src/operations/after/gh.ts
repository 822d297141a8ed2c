/** Calls of `gh`, as the person would make them. */
import { findExecutable } from '../../process/executable.ts';
import { runProcess } from '../../process/run.ts';

/** Would say that another repository is meant than the one at `root`. */
const OTHER_REPOSITORY = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|OBJECT_DIRECTORY)$/;
const TIMEOUT_MS = 60_000;
/** A long discussion. */
const OUTPUT_BYTES = 16 * 1024 * 1024;

export interface GhCall {
  environment: NodeJS.ProcessEnv;
  root: string;
  args: string[];
}

/** With any exit code. `null`: it is not installed. */
export async function runGh({
  environment,
  root,
  args,
}: GhCall): Promise<{ code: number | null; stdout: string; stderr: string } | null> {
  const gh = findExecutable({ file: 'gh', cwd: root, path: environment.PATH });
  if (typeof gh !== 'string') return null;
  return runProcess({
    runId: null,
    file: gh,
    args,
    cwd: root,
    env: withoutRepository(environment),
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: OUTPUT_BYTES,
  });
}

export function withoutRepository(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !OTHER_REPOSITORY.test(entry[0]),
    ),
  );
}
