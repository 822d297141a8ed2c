/**
 * Whether the code of a claim could end or rewrite the run that tests it. It costs one more run of the tests, and refuses
 * nothing by itself, so it may be wrong in that direction. Pure.
 */
import type { ChangedFile } from '../notes/notes.ts';

/** What reaches the process, its streams, or what the runner is made of. */
const REACHES: readonly { files: RegExp; code: RegExp }[] = [
  {
    files: /\.[cm]?[jt]sx?$/,
    code: /\bprocess\b|\bglobalThis\b|\bReflect\b|\beval\b|\bFunction\s*\(|\bcreateRequire\b|\brequire\s*\.|\bimport\s*\(|['"](?:node:)?(?:fs|vm|module|child_process|worker_threads|inspector|test|assert)\b|['"](?:vitest|mocha|chai|@?jest)/,
  },
  {
    files: /\.py$/,
    code: /\b(?:os|sys|atexit|signal|builtins|importlib|ctypes|gc|inspect|threading|subprocess|unittest|_?pytest|__import__|exec|eval)\b/,
  },
  {
    files: /\.go$/,
    code: /"(?:os|syscall|runtime|testing|unsafe|reflect|plugin|os\/[\w/]+)"|\bfunc init\s*\(|\/\/go:linkname/,
  },
  {
    files: /\.rs$/,
    code: /\bprocess\b|\bextern\b|\blink_section\b|\bno_mangle\b|\bunsafe\b|\blibc\b|\bpanic::|\bprint!|\bstdout\b|\bctor\b/,
  },
];

export function isSuspicious(files: readonly ChangedFile[]): boolean {
  return files.some(({ path, base, claim }) => {
    const found = REACHES.find(({ files: names }) => names.test(path));
    if (!found || claim === null) return false;
    return countOf(found.code, claim) > countOf(found.code, base ?? '');
  });
}

function countOf(pattern: RegExp, text: string): number {
  return [...text.matchAll(new RegExp(pattern, 'g'))].length;
}
