/** The `command` agent: any executable, run by a shell in the worktree. Its stdout is its final message. */
import { PulseError } from '../../domain/errors.ts';
import { redact } from '../../domain/redact.ts';
import { findExecutable } from '../../process/executable.ts';
import type { AgentAdapter, AgentExit, AgentParser } from '../contract.ts';
import { describeExit } from '../shared/exit.ts';
import { keepEnd, keepStart, MAX_TEXT_LENGTH } from '../shared/kept-text.ts';

const SHELL = '/bin/sh';

export const commandAdapter: AgentAdapter = {
  name: 'command',
  environment: [],
  idleByDefault: false,
  isScripted: true,
  printsText: true,
  // It may report its usage with the tool `report_usage`.
  cost: 'unreported',
  /** Looks only for the shell. The registry checks that there is a command. */
  async detect() {
    const found = findExecutable({ file: SHELL, cwd: '/', path: undefined });
    if (typeof found === 'string') return { available: true, path: found, version: null, hint: null };
    return { available: false, path: null, version: null, hint: `A shell is needed: ${found.message}.` };
  },
  command({ brief, command }) {
    if (command === null || command.trim() === '') {
      throw new PulseError('usage', 'The agent "command" has no command to run.', {
        hint: 'Give one with --command CMD.',
      });
    }
    // `--`: a command may begin with a dash.
    return { file: SHELL, args: ['-c', '--', command], env: {}, stdin: brief, stopSignals: ['SIGTERM'] };
  },
  createParser: createCommandParser,
};

/** Every line is a sign of life (`raw`). The last 1 MB of all lines is the final message. */
function createCommandParser(): AgentParser {
  let lines: string[] = [];
  let length = 0;
  const output = (): string => keepEnd(lines.join('\n'));

  return {
    parse(line) {
      const kept = keepEnd(line);
      lines.push(kept);
      length += kept.length + 1;
      // Cuts only at twice the cap, so that many short lines are not joined each time.
      if (length > 2 * MAX_TEXT_LENGTH) {
        const end = output();
        lines = [end];
        length = end.length + 1;
      }
      return [{ type: 'raw', line: kept }];
    },
    finish(exit) {
      const finalMessage = output();
      if (exit.code === 0) return { ok: true, failure: null, message: '', resetAt: null, finalMessage };
      const message = describeFailure(exit, finalMessage);
      return { ok: false, failure: 'crashed', message, resetAt: null, finalMessage };
    },
  };
}

function describeFailure(exit: AgentExit, output: string): string {
  if (exit.code === 127) return 'The command was not found: the shell exited with code 127.';
  if (exit.code === 126) return 'The command may not be executed: the shell exited with code 126.';
  // Redact the whole output first: a single line of a private key does not look like a secret.
  const last = redact(output).trimEnd().split('\n').at(-1)?.trim();
  const said = last ? ` Its last line: ${keepStart(last, 200)}` : '';
  return `The command ${describeExit(exit)}.${said}`;
}
