/**
 * What a new test file says that reaches beyond itself: in one process a test can end the run, or change what an
 * assertion means, for all others. A file without such a line is an ordinary new test.
 */
import { TAKING_OVER } from '../../notes/patterns.ts';
import { createPart, type Part } from './part.ts';

const MORE: [RegExp, RegExp][] = [
  [/\.go$/, /\bfunc\s+(?:TestMain|init)\s*\(|\bos\.Exit\b|\bunsafe\b|\bflag\.Set\b/],
  [
    /\.[cm]?[jt]sx?$/,
    /\bprocess\s*(?:\.|\[)\s*["'`]?(?:exit|exitCode|on|once|emit|kill|reallyExit|abort|stdout)\b|\.prototype\b|\b(?:globalThis|global)\b|\brequire\.cache\b|\bdefineProperty\b|\bReflect\b|\bassert\s*(?:\.\w+)*(?:\[[^\]]*\])?\s*=(?!=)|\bModule\b|\bmodule\.constructor\b|\brun\s*\(\s*\)|\b(?:after|before)(?:Each|All)?\s*\(/,
  ],
  [
    /\.py$/,
    /\bos\.|\bsys\.|\bbuiltins?\b|\b__builtins__\b|_pytest|\bpluggy\b|\bsetattr\s*\(|\batexit\b|\bgc\.|\bctypes\b|\bpytest\.(?:exit|hookimpl)|\bpytest_\w+\s*\(|\bautouse\b|\bimportlib\b|^\s*\w+(?:\.\w+)+\s*=(?!=)|\bunittest\.\w+(?:\.\w+)?\s*=(?!=)|\bpytest_plugins\b/,
  ],
  [
    /\.rb$/,
    /\bexit\b|\babort\b|\bat_exit\b|\bclass_eval\b|\bprepend\b|\bRSpec\.configure\b|\bdefine_method\b|^\s*(?:class|module)\s+(?:RSpec|Minitest|Object|Kernel)\b/,
  ],
  [/\.php$/, /\bexit\b|\bdie\b|\bregister_shutdown_function\b|^\s*namespace\s+PHPUnit/],
];

/** Lines of a build script of Rust that reach for the tests, or decide what is compiled. */
export const rustBuildScript: Part = reaching([
  /\btests?\b|rustc-cfg|rustc-env|RUSTFLAGS|RUST_TEST|CARGO_MANIFEST_DIR|\bsrc\b|\bremove_\w+\s*\(|\bCommand\b|\bset_permissions\b|\brename\s*\(/,
]);

/** What tells whether a new test at this path reaches beyond itself; `undefined`: no text of it could. */
export function findReach(path: string): ((content: string) => boolean) | undefined {
  const patterns = linesOf(path);
  if (patterns.length === 0) return undefined;
  return (content) => content.split('\n').some((line) => patterns.some((pattern) => pattern.test(line)));
}

function reaching(patterns: readonly RegExp[]): Part {
  return createPart({
    name: 'what reaches beyond it',
    read: (content) =>
      content
        .split('\n')
        .filter((line) => patterns.some((pattern) => pattern.test(line)))
        .map((line) => line.trim())
        .join('\n'),
    // A line alone says nothing: where one is different, the whole file is put back.
    merge: () => null,
  });
}

function linesOf(path: string): RegExp[] {
  const noted = TAKING_OVER.filter(({ files }) => files?.test(path)).map(({ line }) => line);
  return [...noted, ...MORE.filter(([files]) => files.test(path)).map(([, line]) => line)];
}
