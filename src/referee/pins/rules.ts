/** What was found, as rules: which path is protected, how, and why. */
import { posix } from 'node:path';
import { grammarOf, loadSyntax, PATIENT_MS } from '../../context/tree-sitter.ts';
import { globMatcher } from '../../files/glob.ts';
import { FAMILIES } from './families.ts';
import type { Findings } from './findings.ts';
import { packageOrigins } from './parts/package-json.ts';
import type { Part } from './parts/part.ts';
import { findReach } from './parts/taking-over.ts';
import type { Pin } from './pins.ts';
import { createShadows } from './shadows.ts';
import { findSupport } from './support-files.ts';
import { FIXTURE_GLOBS, mayBeTest, NESTED_TEST_GLOBS, SNAPSHOT_GLOBS, TEST_GLOBS } from './test-files.ts';

export async function findRules(
  findings: Findings,
  { kinds, paths }: { kinds: readonly TestKind[]; paths: readonly string[] },
): Promise<Rule[]> {
  const tests = kinds.map(testRule);
  return [
    ...(paths.length > 0 ? [settingRule(paths)] : []),
    await reachedRule(findings),
    ...definitionRules(findings),
    namedRule(findings),
    ...newTestRules(findings, tests),
    ...tests,
    await supportRule(findings, tests),
    ...(await sourceRules(findings)),
  ];
}

/** How a path is protected, by the first rule that matches it. */
export interface Rule {
  matches(path: string): boolean;
  pin(path: string): Pin;
}

function settingRule(paths: readonly string[]): Rule {
  return {
    matches: globMatcher(paths),
    pin: () => ({ kind: 'definition', part: null, why: 'named by the setting checks.paths' }),
  };
}

/** Makefiles and the like: what of them is protected depends on the targets that the commands reach. */
async function reachedRule({ parts }: Findings): Promise<Rule> {
  const made = new Map<string, Part | null>();
  for (const [path, make] of parts) made.set(path, await make());
  return {
    matches: (path) => made.has(path),
    pin: (path) => ({ kind: 'definition', part: made.get(path) ?? null, why: 'has what a check runs' }),
  };
}

/** A definition in a folder that is new can speak of new tests only. */
function definitionRules(findings: Findings): Rule[] {
  const definitions = [...findings.families].flatMap((family) => FAMILIES[family].definitions);
  const isAny = anyOf(definitions.map(({ path }) => path));
  const rules = definitions.map(({ path: pattern, part }): Rule & { isPart: boolean } => ({
    isPart: part !== undefined,
    matches(path) {
      const found = isAny(path) ? pattern.exec(path) : null;
      return found !== null && findings.hasFolder(path.slice(0, found.index));
    },
    pin: () => ({ kind: 'definition', part: part ?? null, why: 'says how checks run' }),
  }));
  // A new package may bring a program of a runner's name.
  const origins: Rule & { isPart: boolean } = {
    isPart: false,
    matches: (path) => findings.families.has('javascript') && posix.basename(path) === 'package.json',
    pin: () => ({ kind: 'definition', part: packageOrigins, why: 'says where a runner comes from' }),
  };
  // A file that a command names is protected in part where its parts are known.
  return [...rules.filter(({ isPart }) => isPart), origins, ...rules.filter(({ isPart }) => !isPart)];
}

/** One look for all patterns, remembered for the path that was asked last: rules are asked one after the other. */
function anyOf(patterns: readonly RegExp[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const any = new RegExp(patterns.map(({ source }) => source).join('|'));
  let last = { path: '', isAny: false };
  return (path) => {
    if (path !== last.path) last = { path, isAny: any.test(path) };
    return last.isAny;
  };
}

function namedRule({ named }: Findings): Rule {
  return {
    matches: (path) => named.has(path),
    pin: (path) => ({ kind: 'definition', part: null, why: named.get(path)! }),
  };
}

export interface TestKind {
  why: string;
  globs: readonly string[];
  /** Globs that commands and configs name, beside those that are known. */
  own?: readonly string[];
}

/** `tests`: a person's globs in place of those that are known. What commands and configs name is a test all the same. */
export function testKinds(findings: Findings, tests?: readonly string[]): TestKind[] {
  const known = [...findings.families].flatMap((family) => FAMILIES[family].tests);
  const named = [...findings.tests.keys()];
  return [
    { why: 'a snapshot', globs: SNAPSHOT_GLOBS },
    tests
      ? { why: 'a test', globs: [], own: [...tests, ...named] }
      : { why: 'a test', globs: [...TEST_GLOBS, ...NESTED_TEST_GLOBS, ...known], own: named },
    { why: 'a fixture', globs: FIXTURE_GLOBS },
  ];
}

function testRule({ globs, own = [], why }: TestKind): Rule {
  const [isKnown, isNamed] = [globMatcher(globs), globMatcher(own)];
  return {
    matches: (path) => (mayBeTest(path) && isKnown(path)) || isNamed(path),
    pin: () => ({ kind: 'test', part: null, why }),
  };
}

/**
 * A new test changes nothing, but for two kinds: one that is found instead of a file that is protected, and one that
 * decides over the tests that run in the same process.
 */
function newTestRules(findings: Findings, tests: readonly Rule[]): Rule[] {
  const isTest = (path: string) => tests.some((rule) => rule.matches(path));
  const shadows = createShadows(findings.tree.paths);
  const isNew = (path: string) => !findings.hasFile(path);
  return [
    {
      matches: (path) => isNew(path) && shadows(path) && isTest(path),
      pin: () => ({ kind: 'definition', part: null, why: 'would be found instead of a test’s file' }),
    },
    {
      matches: (path) => isNew(path) && isTest(path),
      pin: (path) => ({ kind: 'test', part: null, why: 'a new test', reaches: findReach(path) }),
    },
  ];
}

/** Helpers of tests, wherever they lie. */
async function supportRule(findings: Findings, tests: readonly Rule[]): Promise<Rule> {
  const support = await findSupport(findings, (path) => tests.some((rule) => rule.matches(path)));
  return {
    matches: (path) => support.has(path),
    pin: () => ({ kind: 'test', part: null, why: 'tests compare with it' }),
  };
}

/** Loads a grammar only where the tree has files for it: a first file of a language has no tests to protect. */
async function sourceRules(findings: Findings): Promise<Rule[]> {
  const sources = [...findings.families].flatMap((family) => FAMILIES[family].source ?? []);
  const present = new Set(findings.tree.paths.map(grammarOf));
  const wanted = sources.filter(({ grammar }) => present.has(grammar));
  return Promise.all(
    wanted.map(async ({ path: pattern, grammar, part }): Promise<Rule> => {
      const made = part(await loadSyntax(grammar, PATIENT_MS));
      return {
        matches: (path) => pattern.test(path),
        pin: () => ({ kind: 'test', part: made, why: 'a source file that may hold tests' }),
      };
    }),
  );
}
