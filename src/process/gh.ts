/** GitHub's own program, as the person has it: with the person's login, and told of no repository by variables. */
import { homedir } from 'node:os';
import { findExecutable } from './executable.ts';
import { runProcess } from './run.ts';

export interface GhCall {
  args: string[];
  environment: NodeJS.ProcessEnv;
  /** Default: the home folder. */
  cwd?: string;
  stdin?: string;
  signal?: AbortSignal;
}

export interface GhAnswer {
  code: number;
  stdout: string;
  stderr: string;
}

const TIMEOUT_MS = 60_000;
const OTHER_REPOSITORY = /^(?:GIT_|GH_REPO$)/;

/** `null`: it is not installed. */
export async function runGh({ args, environment, cwd, stdin, signal }: GhCall): Promise<GhAnswer | null> {
  const place = cwd ?? (environment.HOME || homedir());
  const gh = findExecutable({ file: 'gh', cwd: place, path: environment.PATH });
  if (typeof gh !== 'string') return null;
  const env = Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !OTHER_REPOSITORY.test(entry[0]),
    ),
  );
  const { code, stdout, stderr } = await runProcess({
    // A run's end also ends orphans in its directory; here these are the person's own processes.
    runId: null,
    file: gh,
    args,
    cwd: place,
    env: { ...env, GH_PROMPT_DISABLED: '1', NO_COLOR: '1' },
    timeoutMs: TIMEOUT_MS,
    ...(stdin === undefined ? {} : { stdin }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { code: code ?? 128, stdout, stderr };
}
