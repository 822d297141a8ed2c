/** Vitest's lists: the tree of the default reporter, the lines of the verbose one. */
import { type NamedTests, noNames, type TestGroup, testName } from '../tests.ts';
import type { ParserInput } from './parser.ts';

/** `|unit| `, and with colours ` unit  `. */
const PROJECT = '(?:\\|[^|]*\\| | [^\\s|]+ {2})?';
const FILE = new RegExp(
  `^ [✓×❯↓□] ${PROJECT}(?<file>\\S.*?) \\((?<total>\\d+) tests?(?<parts>(?: \\| \\d+ [a-z ]+)*)\\)(?: |$)`,
  'u',
);
const TREE = /^(?<indent> {3,})(?<sign>[✓×❯↓□]) (?<name>\S.*)$/u;
const FLAT = new RegExp(`^ (?<sign>[✓×↓□]) ${PROJECT}(?<name>\\S.* > \\S.*)$`, 'u');
const MEASURED = /(?: \((?:retry|repeat) x\d+\))*(?: +\d+(?:\.\d+)?m?s)?(?: \((?:retry|repeat) x\d+\))*$/;
const CHILDREN = / \(\d+\)$/;

export interface ListedTests {
  named: NamedTests;
  groups: TestGroup[];
}

/** Failing tests are named a second time, and always, in the list of failures: that one is read by the parser. */
export function readLists(input: ParserInput): ListedTests {
  const named = noNames();
  const groups: TestGroup[] = [];
  let file: string | null = null;
  let open: { depth: number; name: string }[] = [];
  input.lines.forEach((line, index) => {
    if (!/^ +(?:[✓×❯↓□]|→)/u.test(line)) {
      file = null;
      return;
    }
    const heading = FILE.exec(line)?.groups;
    if (heading !== undefined) {
      file = input.path(heading.file!);
      open = [];
      groups.push({ name: file, ran: Number(heading.total) - skippedOf(heading.parts!) });
      return;
    }
    const flat = FLAT.exec(line)?.groups;
    if (flat !== undefined) {
      const [first = '', ...rest] = flat.name!.replace(MEASURED, '').split(' > ');
      listOf(named, flat.sign!)?.push(testName([input.path(first), rest.join(' > ')]));
      return;
    }
    const item = file === null ? undefined : TREE.exec(line)?.groups;
    if (item === undefined) return;
    const depth = item.indent!.length;
    open = open.filter((suite) => suite.depth < depth);
    const below = TREE.exec(input.lines[index + 1] ?? '')?.groups?.indent ?? '';
    if (below.length > depth) open.push({ depth, name: item.name!.replace(CHILDREN, '') });
    else {
      const name = item.name!.replace(MEASURED, '');
      listOf(named, item.sign!)?.push(testName([file, ...open.map((suite) => suite.name), name]));
    }
  });
  return { named, groups };
}

function skippedOf(parts: string): number {
  const counts = [...parts.matchAll(/(\d+) (?:skipped|todo)/g)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

function listOf({ passed, skipped }: NamedTests, sign: string): string[] | null {
  if (sign === '✓') return passed;
  return sign === '↓' || sign === '□' ? skipped : null;
}
