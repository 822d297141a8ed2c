/** `--merge pr`: the branch goes to the remote, and a pull request is opened where `gh` is installed. */
import { asPulseError, PulseError } from '../../domain/errors.ts';
import { remoteUrl } from '../../git/remote.ts';
import { runProcess } from '../../process/run.ts';
import { pushProofs } from '../../referee/proof/push.ts';
import type { Operations } from '../context.ts';
import { runGh, withoutRepository } from './gh.ts';

/** A hook before the push may run a project's tests. */
const PUSH_TIMEOUT_MS = 15 * 60_000;

export interface PullRequest {
  root: string;
  remote: string;
  base: string;
  branch: string;
  title: string;
  body: string;
}

export interface OpenedPullRequest {
  /** What to tell the person. */
  said: string;
  /** `null`: it is pushed, and no pull request is known to be open. */
  address: string | null;
}

/** Throws where the branch cannot be pushed; nothing else has happened then. */
export async function openPullRequest(
  operations: Pick<Operations, 'git' | 'environment'>,
  request: PullRequest,
): Promise<OpenedPullRequest> {
  await pushAsPerson(operations, request);
  // The branch is there without them; who demands a proof will say that it is missing.
  const trouble = await pushProofs(operations.git, request).then(() => null, asPulseError);
  const opened = await openByGh(operations, request);
  if (trouble === null) return opened;
  return { ...opened, said: `${opened.said}\nIts proofs could not be pushed: ${trouble.message}` };
}

/** May be repeated. */
export async function pushAsPerson(
  { git, environment }: Pick<Operations, 'git' | 'environment'>,
  { root, remote, branch }: Pick<PullRequest, 'root' | 'remote' | 'branch'>,
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

async function openByGh(
  { environment }: Pick<Operations, 'environment'>,
  { root, remote, base, branch, title, body }: PullRequest,
): Promise<OpenedPullRequest> {
  const args = ['pr', 'create', '--base', base, '--head', branch, '--title', title, '--body', body];
  const opened = await runGh({ environment, root, args });
  if (opened === null) {
    const said = `${branch} is pushed to ${remote}; open the pull request there (gh is not installed).`;
    return { said, address: null };
  }
  if (opened.code === 0) {
    const said = opened.stdout.trim();
    return { said, address: ADDRESS.exec(said)?.[0] ?? null };
  }
  // Opened by one that died before it could be noted.
  const [there] = /already exists[\s\S]*/.exec(opened.stderr) ?? [];
  const address = (there && ADDRESS.exec(there)?.[0]) ?? null;
  if (address !== null)
    return { said: `${branch} is pushed to ${remote}; its pull request is ${address}`, address };
  const why = opened.stderr.trim().slice(-500);
  return {
    said: `${branch} is pushed to ${remote}, but gh could not open the pull request: ${why}`,
    address,
  };
}

const ADDRESS = /https?:\/\/[^\s"'<>]+/;
