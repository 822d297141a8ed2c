/** Git's words, turned into words that start it in a sandbox. */

import { dirname } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import { quoteWord } from '../../domain/shell-words.ts';
import type { Enclosure, GitCall } from '../../git/exec.ts';
import { enclose, findBwrap, type Sandbox } from '../../process/sandbox.ts';

/** `env` is all that what git starts there may see, beside git's own variables. */
export function encloseGit({ sandbox, env }: { sandbox: Sandbox; env: Record<string, string> }): Enclosure {
  return {
    wrap(call) {
      const bwrap = findBwrap(env.PATH);
      if (bwrap === null)
        throw new PulseError('sandbox_unavailable', 'bubblewrap (bwrap), the sandbox, was not found.', {
          hint: 'Install it, or resume the session where it is.',
        });
      const index = call.env?.GIT_INDEX_FILE;
      const folders = index === undefined ? [] : [dirname(index)];
      const shown = { ...sandbox, write: [...sandbox.write, ...folders] };
      const words = enclose({ bwrap, sandbox: shown, cwd: call.cwd }, programOf(call));
      return { ...call, ...words, next: undefined, env: { ...env, ...gitVariables(call.env ?? {}) } };
    },
  };
}

/** One sandbox for both processes: to make it costs more than they do. */
function programOf({ args, next }: GitCall): { file: string; args: string[] } {
  if (next === undefined) return { file: 'git', args };
  const line = (words: readonly string[]): string => ['git', ...words].map(quoteWord).join(' ');
  // The second has no input of its own.
  return { file: '/bin/sh', args: ['-c', `${line(args)} || exit; exec ${line(next)} </dev/null`] };
}

/** How git is to work there; how to reach a remote, and with which secret, is not needed there. */
const GIT_VARIABLE = /^(GIT_(?!SSH|ASKPASS|PROXY_|SSL_|CONFIG_(COUNT|KEY_|VALUE_))\w+|LC_ALL)$/;

function gitVariables(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => GIT_VARIABLE.test(name)));
}
