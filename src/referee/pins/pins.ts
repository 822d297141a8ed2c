/**
 * What protects the checks: which files, or parts of files, say what the commands of a session mean. They are found in
 * the base tree, which no agent has touched, by following the commands to what defines them.
 */
import { grammarOf, loadSyntax } from '../../context/tree-sitter.ts';
import { globMatcher } from '../../files/glob.ts';
import { FAMILIES } from './families.ts';
import { Findings, type TreeFiles } from './findings.ts';
import { createFollow } from './follow.ts';
import { readJsConfigs } from './js-configs.ts';
import type { Part } from './parts/part.ts';
import { FIXTURE_GLOBS, NESTED_TEST_GLOBS, SNAPSHOT_GLOBS, TEST_GLOBS } from './test-files.ts';

export type { TreeFiles } from './findings.ts';
export type { Part } from './parts/part.ts';

export interface PinsRequest {
  commands: readonly string[];
  /** Of the base. */
  tree: TreeFiles;
  /** Globs of the setting `checks`. */
  paths?: readonly string[];
  exclude?: readonly string[];
}

export interface Pins {
  /** How a path is protected; `null`: it is not. For paths that are not in the tree, too: a new `.npmrc`. */
  of(path: string): Pin | null;
  /** For people, one line each. */
  described: readonly string[];
  /** Programs of which nothing is known beyond what the command names, and the tests. */
  unknown: readonly string[];
}

export interface Pin {
  /** `definition`: says what the check is; a new one counts as a change. `test`: a new file alone changes nothing. */
  kind: 'definition' | 'test';
  /** `null`: the whole file. */
  part: Part | null;
  why: string;
}

export async function findPins({ commands, tree, paths = [], exclude = [] }: PinsRequest): Promise<Pins> {
  const findings = new Findings(tree);
  const follow = createFollow(findings);
  for (const command of commands) await follow.run(command, '');
  await readJsConfigs(findings);

  const kinds = testKinds(findings);
  const rules = [
    ...(paths.length > 0 ? [settingRule(paths)] : []),
    await reachedRule(findings),
    ...definitionRules(findings),
    namedRule(findings),
    ...kinds.map(testRule),
    ...(await sourceRules(findings)),
  ];
  const isExcluded = globMatcher(exclude);
  const of = (path: string): Pin | null => {
    if (isExcluded(path)) return null;
    for (const rule of rules) if (rule.matches(path)) return rule.pin(path);
    return null;
  };
  return {
    of,
    described: describe({ paths: tree.paths, of, globs: kinds.flatMap(({ globs }) => globs) }),
    unknown: [...findings.unknown].sort(),
  };
}

interface Rule {
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
  const families = [...findings.families].map((family) => FAMILIES[family]);
  const rules = families.flatMap(({ definitions }) =>
    definitions.map(({ path: pattern, part }): Rule & { isPart: boolean } => ({
      isPart: part !== undefined,
      matches(path) {
        const found = pattern.exec(path);
        return found !== null && findings.hasFolder(path.slice(0, found.index));
      },
      pin: () => ({ kind: 'definition', part: part ?? null, why: 'says how checks run' }),
    })),
  );
  // A file that a command names is protected in part where its parts are known.
  return [...rules.filter(({ isPart }) => isPart), ...rules.filter(({ isPart }) => !isPart)];
}

function namedRule({ named }: Findings): Rule {
  return {
    matches: (path) => named.has(path),
    pin: (path) => ({ kind: 'definition', part: null, why: named.get(path)! }),
  };
}

interface TestKind {
  why: string;
  globs: readonly string[];
}

function testKinds(findings: Findings): TestKind[] {
  const own = [...findings.families].flatMap((family) => FAMILIES[family].tests);
  return [
    { why: 'a snapshot', globs: SNAPSHOT_GLOBS },
    { why: 'a test', globs: [...TEST_GLOBS, ...NESTED_TEST_GLOBS, ...own, ...findings.tests.keys()] },
    { why: 'a fixture', globs: FIXTURE_GLOBS },
  ];
}

function testRule({ globs, why }: TestKind): Rule {
  return { matches: globMatcher(globs), pin: () => ({ kind: 'test', part: null, why }) };
}

/** Loads a grammar only where the tree has files for it: a first file of a language has no tests to protect. */
async function sourceRules(findings: Findings): Promise<Rule[]> {
  const sources = [...findings.families].flatMap((family) => FAMILIES[family].source ?? []);
  const present = new Set(findings.tree.paths.map(grammarOf));
  const wanted = sources.filter(({ grammar }) => present.has(grammar));
  return Promise.all(
    wanted.map(async ({ path: pattern, grammar, part }): Promise<Rule> => {
      const made = part(await loadSyntax(grammar));
      return {
        matches: (path) => pattern.test(path),
        pin: () => ({ kind: 'test', part: made, why: 'a source file that may hold tests' }),
      };
    }),
  );
}

/** Definitions by name, tests by the pattern that found them. Source files are left out: few hold tests. */
function describe({
  paths,
  of,
  globs,
}: {
  paths: readonly string[];
  of(path: string): Pin | null;
  globs: readonly string[];
}): string[] {
  const matchers = [...new Set(globs)].map((glob) => ({ glob, matches: globMatcher([glob]) }));
  const counts = new Map<string, number>();
  const definitions = paths.flatMap((path) => {
    const pin = of(path);
    if (pin?.kind === 'definition') return [pin.part ? `${path}: ${pin.part.name}` : path];
    const glob = pin?.part === null && matchers.find(({ matches }) => matches(path))?.glob;
    if (glob) counts.set(glob, (counts.get(glob) ?? 0) + 1);
    return [];
  });
  return [
    ...definitions,
    ...[...counts].map(([glob, count]) => `tests: ${glob} (${count} ${count === 1 ? 'file' : 'files'})`),
  ];
}
