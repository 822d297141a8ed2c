/**
 * What package.json says about the checks. Its scripts, all of them: they call each other. What runners and linters
 * read there. Where a runner's package comes from, if that is not the registry: a folder of the repository may stand in
 * for it. Versions, `type`, `exports` and `imports` belong to the work.
 */

import { jsonMembers, type Protected } from './json-members.ts';
import { isObject, type JsonValue } from './json-text.ts';
import type { Part } from './part.ts';

const SECTIONS = new Set([
  ...['scripts', 'config', 'jest', 'mocha', 'ava', 'vitest', 'tap', 'nyc', 'c8', 'babel', 'tsd', 'xo'],
  ...['eslintConfig', 'eslintIgnore', 'biome', 'prettier', 'standard', 'stylelint', 'ts-node', 'wireit'],
  ...['nx', 'turbo', 'lint-staged', 'browserslist', 'cypress', 'playwright'],
]);
const DEPENDENCIES = new Set([
  ...['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies', 'overrides'],
  'resolutions',
]);
/** Packages that run checks or decide about them. */
const RUNNERS =
  /^(?:@?(?:vitest|jest|playwright|babel|biomejs|typescript-eslint|eslint|testing-library|swc|cypress)\/.+|vitest|vite|vite-node|jest|ts-jest|babel-jest|mocha|chai|ava|tap|tape|uvu|sinon|expect|should|assert|c8|nyc|playwright|typescript|ts-node|tsx|esbuild|eslint|standard|xo|prettier|cross-env|npm-run-all2?|concurrently|turbo|nx|wireit|cypress|supertest|fast-check|jsdom|happy-dom)$/;

const PROGRAMS = /^(?:node|npm|npx|pnpm|yarn|bun|sh|bash|tsc|eslint|biome|run-[sp]|env)$/;

export const packageJson: Part = jsonMembers(
  'scripts',
  (key, value) => SECTIONS.has(key) || origins(key, value),
);

/** Of a package in a new folder: its scripts can speak of new tests only. */
export const packageOrigins: Part = jsonMembers('where runners come from', (key, value) =>
  origins(key, value),
);

const origins: Protected = (key, value) => {
  // A package of the workspace with the name of a runner, or with a program of that name, stands in for it.
  if (key === 'name') return typeof value === 'string' && isRunnerPackage(value);
  if (key === 'bin') return (program) => isRunnerPackage(program) || PROGRAMS.test(program);
  if (key === 'packageManager') return isFromElsewhere(value);
  if (DEPENDENCIES.has(key)) return runnersFromElsewhere;
  return key === 'pnpm' ? pnpmSettings : false;
};

const pnpmSettings: Protected = (key) => {
  if (key === 'overrides') return runnersFromElsewhere;
  return key === 'patchedDependencies' ? isRunnerPackage : false;
};

const runnersFromElsewhere: Protected = (name, spec) =>
  isRunnerPackage(name) && (isObject(spec) || isFromElsewhere(spec));

/** `vitest`, and `vitest@1>x` or a star before it, as overrides write them. */
export function isRunnerPackage(name: string): boolean {
  const plain = name.replace(/^(?:.*[/>]|\*\*\/)?(@[^/>]+\/[^@>]+|[^@/>]+)(?:@[^>]*)?$/, '$1');
  return RUNNERS.test(plain) || RUNNERS.test(name);
}

/** Not a version or a range of the registry, nor the name of a tag. */
function isFromElsewhere(spec: JsonValue): boolean {
  return typeof spec === 'string' && /[:/]/.test(spec) && !spec.startsWith('catalog:');
}
