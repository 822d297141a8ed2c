/** The program that `pulse init` writes for agents: it starts `pulse status --json` and ends as that does. */

/** How its text begins: by this a later version knows it. */
export const STATUS_SCRIPT_MARK = '// Written by pulse init.';
/** Any Node.js that knows modules can run it. */
export const STATUS_SCRIPT = `${STATUS_SCRIPT_MARK} It runs \`pulse status --json\` and ends with its exit code.
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';

const rest = process.argv.slice(2).filter((argument) => argument !== '--json');
const { error, status, signal } = spawnSync('pulse', ['status', ...rest, '--json'], { stdio: 'inherit' });
if (error) {
  console.error(error.code === 'ENOENT' ? 'pulse is not on the PATH.' : error.message);
  process.exitCode = error.code === 'ENOENT' ? 127 : 126;
} else {
  process.exitCode = status ?? 128 + (constants.signals[signal] ?? 0);
}
`;
