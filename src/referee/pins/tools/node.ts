/** Node and the runners of JavaScript. */
import { quoteWord } from '../../../domain/shell-words.ts';
import { inside } from '../calls.ts';
import { looksLikeCheck } from '../looks.ts';
import { runScripts } from './package-scripts.ts';
import type { Tool } from './tool.ts';

const runner: Tool = {
  args: 'tests',
  follow: (_, { findings }) => void findings.families.add('javascript'),
};

const node: Tool = {
  args: 'tests',
  async follow({ args, folder, isExamined }, follow) {
    follow.findings.families.add('javascript');
    const run = args.findIndex(({ text }) => /^--run(?:=|$)/.test(text));
    if (run >= 0) {
      const script = args[run]!.text.split('=')[1] ?? args[run + 1]?.text ?? '';
      await runScripts({ script, folder, everywhere: false }, follow);
    }
    const isLooking = isExamined || args.some(({ text }) => /^(?:-c|--check)$/.test(text));
    if (!isLooking) return;
    // What is only looked at is the work.
    for (const { text } of args) {
      const path = inside(folder, text);
      if (!looksLikeCheck(path)) follow.findings.named.delete(path);
    }
  },
};

export const NODE_TOOLS: Record<string, Tool> = {
  ...{ node, nodejs: node, tsx: node, 'ts-node': node, 'ts-node-esm': node, deno: node, 'vite-node': node },
  ...{ vitest: runner, jest: runner, mocha: runner, _mocha: runner, ava: runner, tap: runner, tape: runner },
  ...{ playwright: runner, uvu: runner, jasmine: runner, cypress: runner, karma: runner, wtr: runner },
  ...{ c8: wrapper(), nyc: wrapper(), borp: runner, 'react-scripts': runner, 'web-test-runner': runner },
};

/** `c8 node --test`: another program behind its own options. */
function wrapper(): Tool {
  return {
    args: 'named',
    async follow({ args, folder }, follow) {
      follow.findings.families.add('javascript');
      const at = args.findIndex(({ text }) => follow.knows(text.split('/').at(-1)!) && !text.startsWith('-'));
      const quoted = args.slice(at).map(({ text }) => quoteWord(text));
      if (at >= 0) await follow.run(quoted.join(' '), folder);
    },
  };
}
