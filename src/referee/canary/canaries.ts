/**
 * A canary is a test that always fails, put beside each test of a claim. Code under test that ends the run, writes the
 * runner's report itself, or changes how tests compare, cannot know its name: then nobody hears of its failure. Pure.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { type Failing, GO_FATAL, pythonFailures, RUST_PANIC, scriptFailures } from './failures.ts';

export interface TestFile {
  path: string;
  text: string;
}

/** One test that must fail. */
export interface Canary {
  /** The file of tests that it speaks for. */
  of: string;
  /** By what it fails: `throws`, or a comparison that the file uses. */
  by: string;
  /** Under this name its failure is told. */
  name: string;
}

export interface PlantedFile {
  path: string;
  text: string;
  canaries: Canary[];
}

/**
 * `token`: letters that the code of the claim cannot know. Files in languages that are not known here get none. `only`:
 * those that are asked for.
 */
export function plantCanaries(
  files: readonly TestFile[],
  token: string,
  only: (canary: Canary) => boolean = () => true,
): PlantedFile[] {
  const packages = new Set<string>();
  return files.flatMap(({ path, text }): PlantedFile[] => {
    const of = `pulse_canary_${token}_${lettersOf(path)}`;
    const nameOf = ({ by }: Failing) => `${of}_${by}_x`;
    const plant = (failing: readonly Failing[], write: (tests: Test[]) => PlantedText): PlantedFile[] => {
      const tests = failing
        .map((one) => ({ ...one, of: path, name: nameOf(one) }))
        .filter((one) => only({ of: path, by: one.by, name: one.name }));
      if (tests.length === 0) return [];
      const canaries = tests.map(({ by, name }) => ({ of: path, by, name }));
      return [{ ...write(tests), canaries }];
    };
    const below = (more: string): PlantedText => ({ path, text: `${text}\n${more}` });
    if (SCRIPT.test(path))
      return plant(scriptFailures(text), (tests) => below(scriptCanaries(text, { tests, name: of })));
    if (/\.py$/.test(path)) return plant(pythonFailures(text), (tests) => below(pythonCanaries(tests, of)));
    if (/\.rs$/.test(path))
      return plant([RUST_PANIC], (tests) => below(rustCanaries(path, { tests, name: of })));
    if (!/_test\.go$/.test(path)) return [];
    const folder = posix.dirname(path);
    const declared = /^\s*package\s+(\w+)/m.exec(text)?.[1];
    if (declared === undefined || packages.has(folder)) return [];
    packages.add(folder);
    const file = posix.join(folder, `${of}_test.go`);
    return plant([GO_FATAL], (tests) => ({ path: file, text: goCanaries(declared, tests) }));
  });
}

type PlantedText = Pick<PlantedFile, 'path' | 'text'>;
type Test = Canary & Failing;

const SCRIPT = /\.[cm]?[jt]sx?$/;

function scriptCanaries(text: string, { tests, name }: { tests: readonly Test[]; name: string }): string {
  const isModule = /^\s*(?:import|export)\b/m.test(text);
  // A helper beside the tests may be loaded where there is no runner.
  const runner = RUNNERS.find((module) => text.includes(`'${module}'`) || text.includes(`"${module}"`));
  const [head, call] =
    runner === undefined
      ? ['', '(globalThis.test ?? globalThis.it)?.']
      : isModule
        ? [`;import { test as ${name} } from '${runner}';\n`, name]
        : ['', `require('${runner}').test`];
  return `${head}${tests.map((one) => `;${call}('${one.name}', () => { ${one.code} });\n`).join('')}`;
}

const RUNNERS = ['node:test', 'vitest', 'bun:test', '@jest/globals', '@playwright/test'];

/** Both pytest and unittest run the class; the functions are pytest's. */
function pythonCanaries(tests: readonly Test[], name: string): string {
  const write = ({ name: own, code }: Test, { by, given }: { by: string; given: string }) =>
    `${by}def test_${own}(${given}):\n${by}    ${code}\n`;
  const alone = tests.filter(({ isFunction }) => isFunction).map((one) => write(one, { by: '', given: '' }));
  const inClass = tests.filter(({ isFunction }) => !isFunction);
  const methods = inClass.map((one) => write(one, { by: '    ', given: 'self' }));
  const head = `\nimport unittest as ${name}_unittest\n\n\nclass ${name}_case(${name}_unittest.TestCase):\n`;
  return [...alone, ...(methods.length > 0 ? [`${head}${methods.join('\n')}`] : [])].join('\n');
}

function rustCanaries(path: string, { tests, name }: { tests: readonly Test[]; name: string }): string {
  const written = tests.map((one) => `#[test]\nfn ${one.name}() {\n    ${one.code}\n}\n`).join('');
  return /(?:^|\/)tests\//.test(path) ? written : `#[cfg(test)]\nmod ${name}_case {\n${written}}\n`;
}

function goCanaries(declared: string, tests: readonly Test[]): string {
  const written = tests.map((one) => `func Test_${one.name}(t *testing.T) {\n\t${one.code}\n}\n`);
  return `package ${declared}\n\nimport "testing"\n\n${written.join('\n')}`;
}

/** No digits: those are not compared in the names of tests. */
function lettersOf(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 12);
  return hash.replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!);
}

export interface CanaryResult {
  /** The tests that must fail. */
  laid: Canary[];
  /** Those of which the failure was told. */
  told: Canary[];
}

/** Those that were told on the base, and are not on the claim. */
export function findSilenced(base: CanaryResult, claim: CanaryResult): Canary[] {
  return base.told.filter((one) => hasCanary(claim.laid, one) && !hasCanary(claim.told, one));
}

/** Their names are made for each run. */
export function hasCanary(canaries: readonly Canary[], { of, by }: Canary): boolean {
  return canaries.some((one) => one.of === of && one.by === by);
}
