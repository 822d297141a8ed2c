/** How to run only the tests that failed, where a command calls its runner directly. */
import { readCommand } from './command-words.ts';

const MAX_TESTS = 100;
/** Nothing that a shell would read otherwise than as it stands. */
const PLAIN = /^[\w@%+=:,./ -]+$/;
/** Relative, below where the command runs, and no option. */
const FILE = /^(?![-/])(?!.*(?:^|\/)\.\.(?:\/|$))[\w@.+/-]+$/;

/**
 * Null where it cannot be said, which is most of the time. The names come from output that an agent's code can write: what
 * does not look like a name is never put into a command.
 */
export function rerunCommand(command: string, failed: readonly string[]): string | null {
  const { commands, cd } = readCommand(command);
  const [words, ...more] = commands;
  if (!PLAIN.test(command) || words === undefined || more.length > 0 || cd !== null) return null;
  if (failed.length === 0 || failed.length > MAX_TESTS) return null;
  const [tool = '', ...rest] = words;
  // What stands before the tool (npx, variables) stays as it is.
  const start = command.trim().split(/ +/);
  const before = start.slice(0, start.length - rest.length);
  if (start.slice(before.length).join(' ') !== rest.join(' ')) return null;
  const added = READERS[tool]?.(rest, [...new Set(failed)]);
  return added ? [...before, ...added].join(' ') : null;
}

type Reader = (options: readonly string[], failed: readonly string[]) => string[] | null;

const READERS: Record<string, Reader | undefined> = {
  pytest: rerunPytest,
  'py.test': rerunPytest,
  cargo: rerunCargo,
  go: rerunGo,
  vitest: (options, failed) => {
    const [verb, ...rest] = options;
    const files = verb === 'run' && areOptions(rest) ? filesOf(failed) : null;
    return files && [...options, ...files];
  },
  jest: (options, failed) => {
    const files = areOptions(options) ? filesOf(failed) : null;
    return files && [...options, '--runTestsByPath', ...files];
  },
  unittest: (options, failed) => {
    const isPlain = areOptions(options) && failed.every((name) => /^[A-Za-z_]\w*(?:\.\w+)+$/.test(name));
    return isPlain ? [...options, ...failed] : null;
  },
};

const PYTEST_VALUES = new Set(['-k', '-m', '-p', '-n', '-c', '-o', '-W']);
const PYTEST_ID = /^(?<file>[^:]+\.py)(?:::\w+)+(?:\[[\w .,:;=+@%~/|<>()*?!{}-]*\])?$/;

/** By node ids, in place of the paths: with both, all would run. */
function rerunPytest(options: readonly string[], failed: readonly string[]): string[] | null {
  const kept: string[] = [];
  for (let at = 0; at < options.length; at++) {
    const word = options[at]!;
    if (!word.startsWith('-')) continue;
    kept.push(word);
    const next = options[at + 1];
    if (PYTEST_VALUES.has(word) && next !== undefined) {
      kept.push(next);
      at++;
    } else if (/^--[\w-]+$/.test(word) && next !== undefined && !next.startsWith('-')) return null; // its value, or a path?
  }
  // A part of a test cannot be run by itself: `test_a.py::test_b (i=0)`.
  const ids = [...new Set(failed.map((name) => name.replace(/ \([^()]*\)$/, '')))];
  const areIds = ids.every((id) => FILE.test(PYTEST_ID.exec(id)?.groups?.file ?? '/'));
  return areIds ? [...kept, ...ids.map((id) => `'${id}'`)] : null;
}

function rerunCargo(options: readonly string[], failed: readonly string[]): string[] | null {
  const [verb, ...rest] = options;
  const names = failed.map((name) => name.split(' > ').at(-1)!);
  if (verb !== 'test' || !areOptions(rest) || rest.includes('--')) return null;
  // Documentation tests have other names than libtest knows them by.
  if (!names.every((name) => /^\w+(?:::\w+)*$/.test(name))) return null;
  return [...options, '--', '--exact', ...new Set(names)];
}

/** A subtest is run with the test around it. */
function rerunGo(options: readonly string[], failed: readonly string[]): string[] | null {
  const [verb, ...rest] = options;
  if (verb !== 'test' || rest.some((word) => /^--?(?:run|skip|args)(?:=|$)/.test(word))) return null;
  const names = failed.map(
    (name) => /^\S+: (?<test>(?:Test|Fuzz|Example)\w*)(?:\/|$)/.exec(name)?.groups?.test,
  );
  if (names.includes(undefined)) return null;
  return [verb, '-run', `'^(${[...new Set(names)].join('|')})$'`, ...rest];
}

/** Each is an option whose value, if it has one, is part of the word: another word could be a path or a filter. */
function areOptions(words: readonly string[]): boolean {
  return words.every((word) => word.startsWith('-'));
}

/** Of runners that can be told files, not tests: the names of tests are patterns to them. */
function filesOf(failed: readonly string[]): string[] | null {
  const files = failed.map((name) => /^(?<file>\S+\.[cm]?[jt]sx?) > /.exec(name)?.groups?.file ?? '/');
  return files.every((file) => FILE.test(file)) ? [...new Set(files)] : null;
}
