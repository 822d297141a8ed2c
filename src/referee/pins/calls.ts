/** The programs that a command starts, as far as its words tell: each with its arguments and the folder that it runs in. */
import { posix } from 'node:path';
import { parseShell, type ShellWord } from '../../tools/work/shell-parser.ts';

export interface Call {
  /** The program's name, without its folder and its ending. */
  name: string;
  /** As it is written. */
  program: ShellWord;
  args: readonly ShellWord[];
  /** Values of variables that are set for it. */
  settings: readonly string[];
  /** From the root of the repository; empty for the root. */
  folder: string;
  /** Other programs read what it prints. */
  isExamined: boolean;
  /** A here-document's text. */
  input: string | null;
}

/** Start another program, with the options that take a value. */
const STARTERS: Record<string, readonly string[]> = {
  ...{ exec: ['-a'], command: [], builtin: [], nohup: [], setsid: [], sudo: ['-u', '-g'], stdbuf: [] },
  ...{ env: ['-u', '-C'], time: ['-f', '-o'], timeout: ['-s', '-k'], nice: ['-n'], ionice: ['-c', '-n'] },
  ...{
    'cross-env': [],
    'cross-env-shell': [],
    dotenv: ['-e', '-c', '-f'],
    dotenvx: ['-f'],
    xargs: ['-n', '-P', '-I'],
  },
  ...{
    'xvfb-run': ['-n', '-s'],
    unbuffer: [],
    npx: ['-p', '--package', '-c'],
    pnpx: [],
    bunx: ['-p'],
    uvx: ['--from', '--with'],
  },
  ...{ pipx: [], catchsegv: [], strace: ['-o', '-e'], flock: ['-w', '-E'], direnv: [], op: [], doppler: [] },
};
/** Of these, another program follows a word of theirs. */
const RUNNERS: Record<string, readonly string[]> = {
  ...{
    npm: ['exec', 'x'],
    pnpm: ['exec', 'dlx'],
    yarn: ['exec', 'dlx'],
    bun: ['x'],
    corepack: ['npm', 'pnpm', 'yarn'],
  },
  ...{
    uv: ['run'],
    poetry: ['run'],
    pipenv: ['run'],
    pdm: ['run'],
    rye: ['run'],
    hatch: ['run'],
    pixi: ['run'],
  },
  ...{ bundle: ['exec'], composer: ['exec'], mise: ['exec', 'x'], rtx: ['exec'], conda: ['run'], nix: [] },
  ...{ pipx: ['run'], op: ['run'], doppler: ['run'], rustup: ['run'], docker: [], direnv: ['exec'] },
};
const INSPECTORS = new Set([
  'grep',
  'egrep',
  'fgrep',
  'rg',
  'test',
  '[',
  '[[',
  'diff',
  'cmp',
  'jq',
  'awk',
  'sed',
  'head',
  'tail',
  'wc',
]);

export function readCalls(script: string, start = ''): Call[] {
  let folder = start;
  const commands = parseShell(script.slice(0, 50_000));
  const isPiped = /(?:^|[^|])\|(?!\|)|\$\(|`|<\(/.test(script);
  const isExamined =
    isPiped && commands.some(({ words: [first] }) => INSPECTORS.has(baseName(first?.text ?? '')));
  return commands.flatMap(({ words, input }): Call[] => {
    const { program, args, settings } = unwrap(words);
    if (program === undefined) return [];
    const name = baseName(program.text);
    if (name === 'cd' || name === 'pushd') {
      const [to] = args.filter(({ text }) => !text.startsWith('-'));
      if (to?.isWhole && !posix.isAbsolute(to.text)) folder = inside(folder, to.text);
      return [];
    }
    return [{ name, program, args, settings, folder, isExamined, input }];
  });
}

interface Unwrapped {
  program: ShellWord | undefined;
  args: ShellWord[];
  settings: string[];
}

function unwrap(words: readonly ShellWord[]): Unwrapped {
  let rest = [...words];
  const settings: string[] = [];
  for (;;) {
    const [word, next] = rest;
    if (word === undefined) return { program: undefined, args: [], settings };
    const name = baseName(word.text);
    const after = RUNNERS[name] ?? [];
    if (/^\w+\+?=/.test(word.text)) {
      settings.push(word.text.slice(word.text.indexOf('=') + 1));
      rest = rest.slice(1);
    } else if (after.includes(next?.text ?? '')) rest = withoutOptions(rest.slice(2), []);
    else if (Object.hasOwn(STARTERS, name) && rest.length > 1) {
      const inner = withoutOptions(rest.slice(1), STARTERS[name]!);
      if (inner.length === 0) return { program: word, args: rest.slice(1), settings };
      rest = inner;
    } else return { program: word, args: rest.slice(1), settings };
  }
}

/** A bare `60s` belongs to the starter as its options do. */
function withoutOptions(words: readonly ShellWord[], withValue: readonly string[]): ShellWord[] {
  let at = 0;
  while (at < words.length) {
    const { text } = words[at]!;
    if (text === '--') return words.slice(at + 1);
    if (withValue.includes(text)) at += 2;
    else if (/^-|^[\d.]+[smhd]?$/.test(text)) at++;
    else break;
  }
  return words.slice(at);
}

function baseName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:cmd|exe|bat|[cm]?js)$/, '');
}

/** A path below the repository's root; one that leaves it stays at the root. */
export function inside(folder: string, path: string): string {
  const joined = posix.join(folder, path).replace(/\/+$/, '');
  return joined === '.' || joined.startsWith('..') ? '' : joined;
}
