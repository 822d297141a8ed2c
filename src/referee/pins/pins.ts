/**
 * What protects the checks: which files, or parts of files, say what the commands of a session mean. They are found in
 * the base tree, which no agent has touched, by following the commands to what defines them.
 */
import { globMatcher } from '../../files/glob.ts';
import { Findings, type TreeFiles } from './findings.ts';
import { createFollow } from './follow.ts';
import { readJsConfigs } from './js-configs.ts';
import { ORIGINS } from './parts/lockfiles.ts';
import type { Part } from './parts/part.ts';
import { readPythonConfigs } from './python-configs.ts';
import { findRules, testKinds } from './rules.ts';

export type { TreeFiles } from './findings.ts';
export type { Part } from './parts/part.ts';

export interface PinsRequest {
  commands: readonly string[];
  /** Of the base. */
  tree: TreeFiles;
  /** Globs of the setting `checks`. */
  paths?: readonly string[];
  exclude?: readonly string[];
  /** Of the setting `tests`, in place of the usual globs. */
  tests?: readonly string[];
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
  /**
   * Of tests that are not at the base: whether one with this text reaches beyond itself, so that it counts as a change.
   * In one process a test can end the run, or change what an assertion means, for all others.
   */
  reaches?(content: string): boolean;
}

export async function findPins({
  commands,
  tree,
  paths = [],
  exclude = [],
  tests,
}: PinsRequest): Promise<Pins> {
  const findings = new Findings(tree);
  const follow = createFollow(findings);
  for (const command of commands) await follow.run(command, '');
  await readJsConfigs(findings);
  await readPythonConfigs(findings);

  const kinds = testKinds(findings, tests);
  const rules = await findRules(findings, { kinds, paths });
  const isExcluded = globMatcher(exclude);
  const of = (path: string): Pin | null => {
    if (isExcluded(path)) return null;
    for (const rule of rules) if (rule.matches(path)) return rule.pin(path);
    return null;
  };
  return {
    of,
    described: describe({
      paths: tree.paths,
      of,
      globs: kinds.flatMap(({ globs, own = [] }) => [...globs, ...own]),
    }),
    unknown: [...findings.unknown].sort(),
  };
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
    if (pin?.part && ORIGINS.has(pin.part)) return [];
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
