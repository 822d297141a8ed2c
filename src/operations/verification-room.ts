/** A clean room for one verification: nobody has used it before, and nothing of it is left behind. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { VerificationRecord } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import type { Git } from '../git/exec.ts';
import { treeOf } from '../git/git-dir.ts';
import { evidenceTree } from '../git/tree.ts';
import { type CheckRun, runChecks } from '../project/run-checks.ts';
import type { Room } from '../referee/room/room.ts';
import { roomPlace } from '../referee/room/room-git.ts';

const TIMEOUT_MS = 30 * 60 * 1000;

export interface Visit {
  git: Git;
  root: string;
  room: Room;
  commit: string;
  checks: Pick<CheckRun, 'env' | 'base' | 'sandbox' | 'runId' | 'signal' | 'redactor'>;
}

export interface Visitor {
  /** Knows the objects that only the room has. */
  git: Git;
  /** Where the commands run. */
  cwd: string;
  /** What evidence is bound to. */
  tree: string;
  /** On the commit as it is: what the command before has done to tracked files is undone. */
  run(command: string): Promise<{ record: VerificationRecord; output: string }>;
}

/** Throws `tool_failed` where setup fails on the commit, and the signal's reason where it was called off. */
export async function visitRoom<T>(visit: Visit, use: (visitor: Visitor) => Promise<T>): Promise<T> {
  const { git, root, room, commit, checks } = visit;
  const { folders } = room;
  const { signal, redactor, runId } = checks;
  const env = { ...checks.env, ...room.environment };
  const run = { ...checks, env, cwd: folders.tree, commit, timeoutMs: TIMEOUT_MS };
  try {
    const at = { tree: await treeOf(git, { cwd: root, commit }), commit };
    const { setupFailure } = await room.enter(at, {
      async runSetup(commands) {
        const setup = { ...run, tree: at.tree, commands, runId: `${runId}.setup`, until: 'first' as const };
        return (await runChecks(setup)).find(({ passed }) => !passed) ?? null;
      },
    });
    signal?.throwIfAborted();
    if (setupFailure) throw notSetUp(setupFailure);
    const placed = git.bind({ signal, place: roomPlace(folders) });
    const tree = await evidenceTree(placed, { worktree: folders.tree, commit: at.tree });
    return await use({
      git: placed,
      cwd: folders.tree,
      tree,
      async run(command) {
        let output = '';
        const onOutput = (text: string): void => {
          output = redactor.redact(text);
        };
        const [record] = await runChecks({ ...run, tree, commands: [command], until: 'all', onOutput });
        // What was called off in the middle says nothing.
        signal?.throwIfAborted();
        await room.reset();
        return { record: record!, output };
      },
    });
  } finally {
    await rm(dirname(folders.tree), { recursive: true, force: true, maxRetries: 3 });
  }
}

function notSetUp({ command, outputTail }: VerificationRecord): PulseError {
  return new PulseError('tool_failed', `The checkout could not be set up: ${command} failed.`, {
    hint: outputTail.split('\n').slice(-3).join(' '),
  });
}
