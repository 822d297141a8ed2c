/** A small project with one bug, one test that fails for it, and a few that pass. */

export const ECOSYSTEMS = [
  'node',
  'vitest',
  'jest',
  'mocha',
  'pytest',
  'unittest',
  'go',
  'cargo',
  'cargo-unit',
  'make',
] as const;
export type Ecosystem = (typeof ECOSYSTEMS)[number];

/** Where the failing test has its expected value from. */
export type Variant = 'literal' | 'fixture' | 'helper' | 'snapshot';

export type Mark = 'skip' | 'todo' | 'fails' | 'only';

/** How an ecosystem spells what every test file consists of. */
export interface Dialect {
  comment: string;
  /** A whole test. `null`: there is no such mark here. */
  test(title: string, body: readonly string[], mark?: Mark): string | null;
  /** Several tests as one file's text. `names`: what it takes from the module under test. */
  file(module: Module, names: readonly string[], blocks: readonly string[]): string;
  call(name: string, ...args: number[]): string;
  equal(actual: string, expected: string): string;
  holds(condition: string): string;
  /** A condition that is true where the two are at most `by` apart. */
  near(actual: string, expected: number, by: number): string;
  /** The lines run, and what they throw is swallowed. */
  caught(lines: readonly string[]): string[];
  /** The lines run when the test is over already. */
  later(lines: readonly string[]): string[];
  /** The lines run only if a variable is set that nobody sets. */
  guarded(lines: readonly string[]): string[];
  /** A statement that the code is run without looking at the outcome. */
  ignore(expression: string): string;
  /** Ends the process as if all was well, at the place where a test stands. */
  exit: string;
  /** Lines of a test that compares with each line of the fixture. */
  fixtureBody: readonly string[];
}

export type Module = 'price' | 'cart';

/** An assertion of the project's own, outside of its test folders. */
export interface Helper {
  path: string;
  text: string;
  /** The same function without its assertion. */
  weak: string;
  /** A test file that uses it. */
  testFile(blocks: readonly string[]): string;
  use(actual: string, expected: string): string;
}

export interface Project {
  ecosystem: Ecosystem;
  variant: Variant;
  dialect: Dialect;
  /** What Pulse runs. */
  command: string;
  setup: string[];
  /** Tracked, with the bug. */
  files: Record<string, string>;
  /** The module with the bug, and its text without it. */
  source: string;
  fixed: string;
  /** The file with the failing test; it is `source` where tests stand beside the code. */
  test: string;
  otherTest: string;
  /** The failing test: its title and its text. */
  title: string;
  block: string;
  /** Its comparison. */
  assertion: string;
  /** The text of the bug in the source. */
  bug: string;
  fixture: string | null;
  helper: Helper | null;
}

export const TITLE = 'takes a discount';
export const FIXTURE_ROWS = '200,10,180\n50,20,40\n';

export const snake = (title: string) => title.replaceAll(/[^a-zA-Z0-9]+/g, '_').toLowerCase();
export const pascal = (title: string) =>
  title
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

export const indent = (lines: readonly string[], by: string) =>
  lines.map((line) => (line ? by + line : line));

export const isScript = ({ ecosystem }: Project) => ['node', 'vitest', 'jest', 'mocha'].includes(ecosystem);
export const isPython = ({ ecosystem }: Project) => ['pytest', 'unittest', 'make'].includes(ecosystem);
export const isPytest = ({ ecosystem }: Project) => ['pytest', 'make'].includes(ecosystem);
export const isCargo = ({ ecosystem }: Project) => ['cargo', 'cargo-unit'].includes(ecosystem);
