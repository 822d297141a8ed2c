/** Runs commands once more, in a room that nothing else has touched. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VerificationRecord } from '../../domain/attempt.ts';
import type { Redactor } from '../../domain/redact.ts';
import type { Git } from '../../git/exec.ts';
import { readCommonDir, readGitDir, realPathOf } from '../../git/git-dir.ts';
import { agentEnvironment } from '../../process/environment.ts';
import { openRoom } from '../../referee/room/room.ts';
import { visitRoom } from '../verification-room.ts';

export interface RunAgain {
  git: Git;
  root: string;
  commit: string;
  commands: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** Names of variables that they get besides the usual ones. */
  pass: readonly string[];
  redactor: Redactor;
  signal?: AbortSignal;
}

/** One record a command, in order. Throws `tool_failed` where the room cannot be set up. Nothing is left behind. */
export async function runAgain(request: RunAgain): Promise<VerificationRecord[]> {
  const { root, commit, commands, environment, redactor, signal } = request;
  const git = request.git.bind({ signal });
  const folder = await realpath(await mkdtemp(join(tmpdir(), `pulse-verify-${process.pid}-`)));
  const room = openRoom({
    path: join(folder, 'ses_verify'),
    root,
    git,
    inside: async (place) => git.bind({ place }),
    submodules: [await realPathOf(await readCommonDir(await readGitDir(root)))],
    setup: null,
  });
  const env = agentEnvironment({ base: environment, own: [], pass: request.pass, add: {} });
  const runId = `verify.${commit.slice(0, 12)}.${process.pid}`;
  const checks = { env, base: environment, runId, signal, redactor };
  try {
    return await visitRoom({ git, root, room, commit, checks }, async (visitor) => {
      const records: VerificationRecord[] = [];
      for (const command of commands) records.push((await visitor.run(command)).record);
      return records;
    });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
