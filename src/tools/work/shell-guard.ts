/**
 * A guard against accidents in what an agent runs: pushing, forcing, and writing outside the worktree. It reads the
 * script and does not watch it run, so it is no sandbox: a program may still do what no word of the script says.
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type GitFacts, judgeGit } from './git-guard.ts';
import { isGitName, isWithin } from './paths.ts';
import { parseShell, type ShellCommand, type ShellWord } from './shell-parser.ts';

export interface ShellGuard {
  /** Without symlinks. */
  root: string;
  /** Where the script starts. */
  cwd: string;
  environment: Readonly<Record<string, string>>;
  /** The user's checkout and Pulse's own folder: not to be written to, wherever they lie. */
  kept?: readonly string[];
  facts: GitFacts;
}

/** Every reason not to run the script; none: it may run. */
export function refusalsOf(script: string, guard: ShellGuard): string[] {
  const { HOME, TMPDIR } = guard.environment;
  const variables = { PWD: guard.cwd, ...(HOME && { HOME }), ...(TMPDIR && { TMPDIR }) };
  const reading: Reading = { guard, variables, cwd: guard.cwd, reasons: new Set(), depth: 0 };
  readScript(script, reading);
  return [...reading.reasons];
}

interface Reading {
  guard: ShellGuard;
  variables: Record<string, string>;
  /** Where the next command runs; `null` once that is not certain. */
  cwd: string | null;
  reasons: Set<string>;
  depth: number;
}

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh'];
/** They start the command that follows them; with the options that take a word of their own. */
const WRAPPERS: Record<string, string> = {
  command: '',
  builtin: '',
  exec: '-a',
  nohup: '',
  setsid: '',
  env: '-u -C -S',
  sudo: '-u -g -h -p -C -D',
  doas: '-u -C',
  nice: '-n',
  ionice: '-c -n',
  stdbuf: '-i -o -e',
  timeout: '-k -s',
  xargs: '-I -n -L -P -d -E -s -a',
  time: '-f -o',
};
/** Which of their operands they change: all, or the last alone. */
const WRITERS: Record<string, 'all' | 'last'> = {
  rm: 'all',
  rmdir: 'all',
  unlink: 'all',
  mv: 'all',
  tee: 'all',
  touch: 'all',
  mkdir: 'all',
  truncate: 'all',
  shred: 'all',
  chmod: 'all',
  chown: 'all',
  cp: 'last',
  ln: 'last',
  install: 'last',
  rsync: 'last',
};

/** Nothing that is longer can be there. */
const LONGEST_PATH = 4096;
const LONGEST_SHOWN = 100;
const REMOVERS = ['rm', 'rmdir', 'mv'];

function readScript(script: string, reading: Reading): void {
  if (++reading.depth > 10) reading.reasons.add('The command is nested too deeply to be read.');
  else for (const command of parseShell(script, reading.variables)) readCommand(command, reading);
  reading.depth--;
}

function readCommand({ words, writes, input }: ShellCommand, reading: Reading): void {
  for (const target of writes) checkWrite(target, { reading, who: 'The redirection' });
  const [name, ...args] = withoutWrappers(words);
  if (!name) return;
  const program = basename(name.text);
  if (program === 'git') readGit(args, reading);
  else if (SHELLS.includes(program)) readShell(args, { input, reading });
  else if (program === 'eval') readScript(args.map(({ text }) => text).join(' '), reading);
  else if (program === 'find') readFind(args, reading);
  else if (program === 'cd' || program === 'pushd') changeFolder(args, reading);
  else if (program === 'dd') readDd(args, reading);
  else if (Object.hasOwn(WRITERS, program)) readWriter(args, { program, reading });
}

function withoutWrappers(words: ShellWord[]): ShellWord[] {
  let at = 0;
  for (;;) {
    while (/^\w+\+?=/.test(words[at]?.text ?? '')) at++;
    const name = basename(words[at]?.text ?? '');
    if (!Object.hasOwn(WRAPPERS, name)) return words.slice(at);
    const withValue = WRAPPERS[name]!.split(' ');
    for (at++; words[at]?.text.startsWith('-'); at++) if (withValue.includes(words[at]!.text)) at++;
    if (name === 'timeout') at++; // its duration
  }
}

function readGit(args: ShellWord[], reading: Reading): void {
  const words = args.map(({ text }) => text);
  const { refusal, folders, script } = judgeGit(words, reading.guard.facts);
  if (refusal !== null) reading.reasons.add(`git ${beginningOf(words)}: ${refusal}.`);
  for (const folder of folders) {
    checkWrite({ text: folder, isWhole: true }, { reading, who: 'git' });
  }
  if (script !== null) readScript(script, reading);
}

/** In whole words: what is told of a refusal is searched for secrets, and half of a secret is not recognised. */
function beginningOf(words: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const word of words) {
    length += word.length + 1;
    if (length > LONGEST_SHOWN) return [...shown, '…'].join(' ');
    shown.push(word);
  }
  return shown.join(' ');
}

function readShell(args: ShellWord[], { input, reading }: { input: string | null; reading: Reading }): void {
  const at = args.findIndex(({ text }) => /^-[a-z]*c$/i.test(text));
  const script = at === -1 ? input : args[at + 1]?.text;
  if (script) readScript(script, reading);
}

function readFind(args: ShellWord[], reading: Reading): void {
  for (const [index, { text }] of args.entries()) {
    if (!['-exec', '-execdir', '-ok', '-okdir'].includes(text)) continue;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((word) => word.text === ';' || word.text === '+');
    readCommand({ words: end === -1 ? rest : rest.slice(0, end), writes: [], input: null }, reading);
  }
  if (!args.some(({ text }) => text === '-delete')) return;
  for (const word of args.slice(
    0,
    args.findIndex(({ text }) => text.startsWith('-')),
  )) {
    checkWrite(word, { reading, who: 'find -delete' });
  }
}

function changeFolder(args: ShellWord[], reading: Reading): void {
  const target = args.find(({ text }) => !text.startsWith('-') || text === '-');
  const isKnown = target?.isWhole === true && target.text !== '-' && reading.cwd !== null;
  reading.cwd = isKnown ? absolutePath(target.text, reading) : null;
}

function readDd(args: ShellWord[], reading: Reading): void {
  for (const { text, isWhole } of args) {
    if (text.startsWith('of=')) checkWrite({ text: text.slice(3), isWhole }, { reading, who: 'dd' });
  }
}

function readWriter(args: ShellWord[], { program, reading }: { program: string; reading: Reading }): void {
  const operands = args.filter(({ text }) => !text.startsWith('-'));
  for (const [index, operand] of operands.entries()) {
    if (WRITERS[program] === 'last' && index < operands.length - 1) continue;
    checkWrite(operand, { reading, who: program });
  }
}

function checkWrite(word: ShellWord, { reading, who }: { reading: Reading; who: string }): void {
  const { root, environment, kept } = reading.guard;
  if (!word.isWhole || word.text === '' || isDevice(word.text)) return;
  const path = absolutePath(word.text, reading);
  if (path === null) return;
  if (realPathOf(path) === root && REMOVERS.includes(who))
    reading.reasons.add(`${who} would take away the worktree itself.`);
  const refusal = writeRefusal(path, { root, environment, kept, shown: word.text, who });
  if (refusal !== null) reading.reasons.add(refusal);
}

/**
 * Why `who` may not write to this absolute path; `null`: it may. Temporary folders are nobody's, but for a checkout of
 * the user's that lies there.
 */
export function writeRefusal(
  path: string,
  {
    root,
    environment,
    kept = [],
    shown,
    who,
  }: Pick<ShellGuard, 'root' | 'environment' | 'kept'> & { shown: string; who: string },
): string | null {
  const real = realPathOf(path);
  if (isWithin(root, real)) {
    return real.slice(root.length).split('/').some(isGitName) ? `${who} would change ${shown}.` : null;
  }
  const temporary = ['/tmp', environment.TMPDIR ?? '/tmp'].map(realPathOf);
  const isIn = (folder: string): boolean => isWithin(folder, real) && folder !== real;
  // A folder for temporary files may itself be made inside of one that is kept.
  const isKept = kept.map(realPathOf).some((folder) => {
    const isOwn = temporary.some((one) => isWithin(folder, one) && isIn(one));
    return !isOwn && (isWithin(folder, real) || isWithin(real, folder));
  });
  if (!isKept && temporary.some(isIn) && !isWithin(real, root)) return null;
  return `${who} would write to ${shown}, which is outside the worktree.`;
}

function isDevice(path: string): boolean {
  return /^\/dev\/(null|stdout|stderr|tty|zero|fd\/\d+)$/.test(path);
}

/** `null` when it cannot be known. */
function absolutePath(text: string, { cwd, variables }: Reading): string | null {
  const { HOME } = variables;
  if (text === '~' || text.startsWith('~/')) return HOME === undefined ? null : join(HOME, text.slice(1));
  if (text.startsWith('/')) return resolve(text);
  return cwd === null ? null : resolve(cwd, text);
}

/** With the symlinks of as much of it as there is. */
export function realPathOf(path: string): string {
  if (path.length > LONGEST_PATH) return path;
  for (let there = path; ; there = dirname(there)) {
    try {
      return join(realpathSync(there), relative(there, path));
    } catch (error) {
      // Not there yet, or not to be read: what is above it decides.
      if (there === dirname(there)) throw error;
    }
  }
}
