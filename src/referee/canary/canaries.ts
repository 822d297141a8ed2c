/**
 * A canary is a test that always fails, put beside each test of a claim. Code under test that ends the run, or writes the
 * runner's report itself, cannot know its name: then nobody hears of its failure. Pure.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';

export interface TestFile {
  path: string;
  text: string;
}

export interface Canary {
  /** The file of tests that it speaks for. */
  of: string;
  /** What is written, and where. */
  path: string;
  text: string;
  /** Under this name its failure is told. */
  name: string;
}

/** `token`: letters that the code of the claim cannot know. Files in languages that are not known here get none. */
export function plantCanaries(files: readonly TestFile[], token: string): Canary[] {
  const packages = new Set<string>();
  return files.flatMap(({ path, text }): Canary[] => {
    const name = `pulse_canary_${token}_${lettersOf(path)}`;
    if (SCRIPT.test(path)) return [{ of: path, path, name, text: `${text}\n${scriptCanary(text, name)}\n` }];
    if (/\.py$/.test(path)) return [{ of: path, path, name, text: `${text}\n${pythonCanary(name)}` }];
    if (/\.rs$/.test(path)) return [{ of: path, path, name, text: `${text}\n${rustCanary(path, name)}` }];
    if (!/_test\.go$/.test(path)) return [];
    const folder = posix.dirname(path);
    const declared = /^\s*package\s+(\w+)/m.exec(text)?.[1];
    if (declared === undefined || packages.has(folder)) return [];
    packages.add(folder);
    return [{ of: path, path: posix.join(folder, `${name}_test.go`), name, text: goCanary(declared, name) }];
  });
}

const SCRIPT = /\.[cm]?[jt]sx?$/;
const MUST_FAIL = 'this test must fail';

function scriptCanary(text: string, name: string): string {
  const isModule = /^\s*(?:import|export)\b/m.test(text);
  const call = `('${name}', () => { throw new Error('${MUST_FAIL}'); });`;
  // A helper beside the tests may be loaded where there is no runner.
  const runner = RUNNERS.find((module) => text.includes(`'${module}'`) || text.includes(`"${module}"`));
  if (runner === undefined) return `;(globalThis.test ?? globalThis.it)?.${call}`;
  if (isModule) return `;import { test as ${name} } from '${runner}';\n${name}${call}`;
  return `;require('${runner}').test${call}`;
}

const RUNNERS = ['node:test', 'vitest', 'bun:test', '@jest/globals', '@playwright/test'];

/** Both pytest and unittest run it. */
function pythonCanary(name: string): string {
  return `

import unittest as ${name}_unittest


class ${name}_case(${name}_unittest.TestCase):
    def test_${name}(self):
        raise AssertionError("${MUST_FAIL}")
`;
}

function rustCanary(path: string, name: string): string {
  const test = `#[test]\nfn ${name}() {\n    panic!("${MUST_FAIL}");\n}\n`;
  return /(?:^|\/)tests\//.test(path) ? test : `#[cfg(test)]\nmod ${name}_case {\n${test}}\n`;
}

function goCanary(declared: string, name: string): string {
  return `package ${declared}\n\nimport "testing"\n\nfunc Test_${name}(t *testing.T) {\n\tt.Fatal("${MUST_FAIL}")\n}\n`;
}

/** No digits: those are not compared in the names of tests. */
function lettersOf(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 12);
  return hash.replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!);
}

export interface CanaryResult {
  /** The files of tests that had one. */
  laid: string[];
  /** Those of which the failure was told. */
  told: string[];
}

/** The files whose canary was told on the base, and is not on the claim. */
export function findSilenced(base: CanaryResult, claim: CanaryResult): string[] {
  return base.told.filter((path) => claim.laid.includes(path) && !claim.told.includes(path));
}
