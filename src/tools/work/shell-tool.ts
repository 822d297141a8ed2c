/** `shell`: one command at a time, to its end or its limit, and nothing of it is left afterwards. */
import { realpathSync } from 'node:fs';
import * as z from 'zod';
import { findExecutable } from '../../process/executable.ts';
import { startProcess } from '../../process/spawn.ts';
import type { Tool, ToolReply } from '../contract.ts';
import type { Work } from './context.ts';
import { gitFacts } from './git-facts.ts';
import { HeadAndTail } from './head-and-tail.ts';
import { resolveWorkPath } from './paths.ts';
import { createQueue } from './queue.ts';
import { defineWorkTool, ToolRefusal } from './refusal.ts';
import { refusalsOf } from './shell-guard.ts';

export interface ShellTool extends AsyncDisposable {
  tool: Tool;
}

interface ShellCall {
  command: string;
  cwd: string;
  timeoutMs: number;
}

/** Disposing of it ends what is under way, and waits until that is gone. */
export function createShellTool(work: Work): ShellTool {
  const { shellTimeoutMs, maxShellTimeoutMs } = work.limits;
  // One after the other: the end of a command ends everything that bears its run id.
  const commands = createQueue();
  const tool = defineWorkTool({
    name: 'shell',
    description: `Run a command with bash in the worktree (build, test, lint). It ends after ${shellTimeoutMs / 1000} s unless timeoutMs says otherwise, and what it started in the background ends with it. Of a long output the beginning and the end are kept. No pushing, no force, nothing outside the worktree.`,
    input: z.object({
      command: z.string().min(1).max(100_000),
      cwd: z.string().min(1).max(4096).optional().describe('A folder, from the root of the worktree.'),
      timeoutMs: z.int().min(1).max(maxShellTimeoutMs).optional(),
    }),
    async call({ command, cwd = '.', timeoutMs = shellTimeoutMs }) {
      if (command.includes('\0')) throw new ToolRefusal('The command holds a NUL.');
      const folder = resolveWorkPath(work.root, cwd);
      if (!folder.exists) throw new ToolRefusal(`There is no ${folder.shown}.`);
      return commands.inTurn(() => run(work, { command, cwd: folder.path, timeoutMs }));
    },
  });
  return {
    tool,
    [Symbol.asyncDispose]: commands.settled,
  };
}

async function run(work: Work, { command, cwd, timeoutMs }: ShellCall): Promise<ToolReply> {
  const { root, environment, kept, limits, signal } = work;
  if (signal.aborted) throw new ToolRefusal('The run is over.');
  const facts = await gitFacts(work, command);
  const refusals = refusalsOf(command, { root, cwd, environment, kept, facts });
  if (refusals.length > 0) throw new ToolRefusal('Not run: this is not allowed in a run of Pulse.', refusals);
  const output = new HeadAndTail(limits.maxOutputBytes);
  const deadline = AbortSignal.timeout(timeoutMs);
  await using running = startProcess({
    runId: `${work.runId}.shell`,
    file: shellProgram(work),
    args: ['-c', command],
    cwd: realpathSync(cwd),
    env: work.sandbox ? { ...environment, TMPDIR: '/tmp' } : environment,
    sandbox: work.sandbox,
    signal: AbortSignal.any([deadline, signal]),
    graceMs: 1000,
    onData: (_, chunk) => output.push(chunk),
  });
  const exit = await running.exited;
  const text = output.text();
  if (exit.spawnError) throw new ToolRefusal(`The shell could not be started: ${exit.spawnError.message}`);
  if (exit.code === 0) return { ok: true, output: text || '[no output]' };
  return {
    ok: false,
    output: text || '[no output]',
    reasons: [endOf(exit, { timedOut: deadline.aborted, timeoutMs })],
  };
}

function endOf(
  { code, signal }: { code: number | null; signal: NodeJS.Signals | null },
  { timedOut, timeoutMs }: { timedOut: boolean; timeoutMs: number },
): string {
  if (timedOut) return `ended after ${timeoutMs / 1000} s: it took too long`;
  return code === null ? `ended by ${signal}` : `exit ${code}`;
}

function shellProgram({ environment, root }: Work): string {
  const found = findExecutable({ file: 'bash', cwd: root, path: environment.PATH });
  return typeof found === 'string' ? found : '/bin/sh';
}
