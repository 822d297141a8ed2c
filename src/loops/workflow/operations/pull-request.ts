/** `review --merge pr`: the branch goes to the remote, and a pull request is opened where `gh` is installed. */
import { asPulseError, PulseError } from '../../../domain/errors.ts';
import { remoteUrl } from '../../../git/remote.ts';
import type { Operations } from '../../../operations/context.ts';
import { findExecutable } from '../../../process/executable.ts';
import { runProcess } from '../../../process/run.ts';
import { pushProofs } from '../../../referee/proof/push.ts';

/** A hook before the push may run a project's tests. */
const PUSH_TIMEOUT_MS = 15 * 60_000;
/** Would say that another repository is meant than the one at `root`. */
const OTHER_REPOSITORY = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|OBJECT_DIRECTORY)$/;

export interface PullRequest {
  root: string;
  remote: string;
  base: string;
  branch: string;
  title: string;
  body: string;
}

/** What to tell the person. Throws where the branch cannot be pushed; nothing else has happened then. */
export async function openPullRequest(
  operations: Pick<Operations, 'git' | 'environment'>,
  request: PullRequest,
): Promise<string> {
  await pushAsPerson(operations, request);
  // The branch is there without them; who demands a proof will say that it is missing.
  const trouble = await pushProofs(operations.git, request).then(() => null, asPulseError);
  const said = await openByGh(operations, request);
  return trouble === null ? said : `${said}\nIts proofs could not be pushed: ${trouble.message}`;
}

async function pushAsPerson(
  { git, environment }: Pick<Operations, 'git' | 'environment'>,
  { root, remote, branch }: PullRequest,
): Promise<void> {
  if ((await remoteUrl(git, root, remote)) === null) {
    throw new PulseError('invalid_config', `The repository has no remote ${remote} to push to.`, {
      hint: `git remote add ${remote} ADDRESS, or name another one: \`remote\` in the config.`,
    });
  }
  // As the person's own push: with their hooks, for one of them may have to send files along (git-lfs).
  const pushed = await runProcess({
    runId: null,
    file: 'git',
    args: ['push', '-q', '-u', remote, `refs/heads/${branch}`],
    cwd: root,
    env: { ...withoutRepository(environment), GIT_TERMINAL_PROMPT: '0' },
    timeoutMs: PUSH_TIMEOUT_MS,
  });
  if (pushed.code !== 0) {
    throw new PulseError('git_failed', `${branch} could not be pushed to ${remote}.`, {
      hint: `${pushed.stdout}\n${pushed.stderr}`.trim().slice(-500),
    });
  }
}

function withoutRepository(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !OTHER_REPOSITORY.test(entry[0]),
    ),
  );
}

async function openByGh(
  { environment }: Pick<Operations, 'environment'>,
  { root, remote, base, branch, title, body }: PullRequest,
): Promise<string> {
  const gh = findExecutable({ file: 'gh', cwd: root, path: environment.PATH });
  if (typeof gh !== 'string')
    return `${branch} is pushed to ${remote}; open the pull request there (gh is not installed).`;
  const opened = await runProcess({
    runId: null,
    file: gh,
    args: ['pr', 'create', '--base', base, '--head', branch, '--title', title, '--body', body],
    cwd: root,
    env: withoutRepository(environment),
    timeoutMs: 60_000,
  });
  if (opened.code === 0) return opened.stdout.trim();
  // Opened by a review that died before it could be noted.
  const [there] = /already exists[\s\S]*/.exec(opened.stderr) ?? [];
  const address = there && /https?:\/\/\S+/.exec(there)?.[0];
  if (address) return `${branch} is pushed to ${remote}; its pull request is ${address}`;
  return `${branch} is pushed to ${remote}, but gh could not open the pull request: ${opened.stderr.trim().slice(-500)}`;
}
