/** Shells: what they are given as text, by `-c`, as a file or by `source`, is followed. */
import { inside } from '../calls.ts';
import type { Tool } from './tool.ts';

const shell: Tool = {
  args: 'none',
  async follow({ args, folder, input }, follow) {
    const at = args.findIndex(({ text }) => /^-[a-z]*c$/.test(text));
    if (at >= 0) await follow.run(args[at + 1]?.text ?? '', folder);
    else {
      const script = args.find(({ text }) => !/^[-+]/.test(text));
      const path = script && inside(folder, script.text);
      if (path && follow.findings.hasFile(path)) await follow.file(path, folder);
    }
    if (input !== null) await follow.run(input, folder);
  },
};

const source: Tool = {
  args: 'none',
  async follow({ args: [script], folder }, follow) {
    const path = script && inside(folder, script.text);
    if (path && follow.findings.hasFile(path)) await follow.file(path, folder);
  },
};

const evaluate: Tool = {
  args: 'named',
  follow: ({ args, folder }, follow) => follow.run(args.map(({ text }) => text).join(' '), folder),
};

export const SHELL_TOOLS: Record<string, Tool> = {
  ...{ sh: shell, bash: shell, dash: shell, zsh: shell, ksh: shell, ash: shell },
  ...{ source, '.': source, eval: evaluate },
};
