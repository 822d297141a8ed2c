/** The XML that most test runners can write, each a little different: only the test cases are counted, no sums are believed. */
import type { ParsedIssue } from '../issue.ts';
import { countTests, type NamedTests, noNames, type TestGroup, testName } from '../tests.ts';
import type { FileReport, ReportPlace } from './read-report.ts';
import { readXml } from './xml.ts';

interface Case {
  file: string | null;
  owner: string;
  name: string;
  line?: number;
  isFailed: boolean;
  isBroken: boolean;
  isSkipped: boolean;
  detail: string;
}

const SKIPPED = new Set(['notrun', 'disabled', 'skipped', 'suppressed', 'ignored']);
const MAX_DETAIL = 500;

export function readJunit(text: string, place: ReportPlace): FileReport | null {
  const cases: Case[] = [];
  let root: string | null = null;
  let open: Case | null = null;
  let isTelling = false; // within <failure> or <error>
  const isRead = readXml(text, {
    open(name, attributes) {
      root ??= name;
      if (name === 'testcase') {
        open = caseOf(attributes, place);
        cases.push(open);
      }
      if (open === null) return;
      if (name === 'skipped') open.isSkipped = true;
      // PHPUnit writes a test without an assertion as an error, and passes it.
      const isRisky = attributes.get('type')?.endsWith('RiskyTestError');
      if ((name !== 'failure' && name !== 'error') || isRisky) return;
      if (name === 'failure') open.isFailed = true;
      else open.isBroken = true;
      open.detail ||= attributes.get('message') ?? '';
      isTelling = open.detail === '';
    },
    text(value) {
      if (open !== null && isTelling && open.detail.length < MAX_DETAIL) open.detail += value;
    },
    close(name) {
      if (name === 'testcase') open = null;
      if (name === 'failure' || name === 'error') isTelling = false;
    },
  });
  return isRead && (root === 'testsuites' || root === 'testsuite')
    ? reportOf(cases.filter(isTest), place)
    : null;
}

function caseOf(attributes: ReadonlyMap<string, string>, place: ReportPlace): Case {
  const file = attributes.get('file') ?? attributes.get('filepath');
  const line = Number(attributes.get('line'));
  const status = attributes.get('status') ?? attributes.get('result') ?? '';
  return {
    file: file ? place.path(file) : null,
    owner: attributes.get('classname') ?? attributes.get('class') ?? '',
    name: attributes.get('name') ?? '',
    ...(Number.isSafeInteger(line) && line > 0 ? { line } : {}),
    isFailed: false,
    isBroken: false,
    isSkipped: SKIPPED.has(status.toLowerCase()),
    detail: '',
  };
}

/** node:test writes a file in which it found no test as a test that passed. */
function isTest({ file, name, isFailed, isBroken, isSkipped }: Case): boolean {
  if (isFailed || isBroken || isSkipped || file === null) return true;
  return !(/^\S+\.\w+$/.test(name) && `/${file}`.endsWith(`/${name.replace(/^(?:\.?\/)+/, '')}`));
}

function reportOf(cases: readonly Case[], place: ReportPlace): FileReport {
  const named: NamedTests = noNames();
  const groups = new Map<string, number>();
  const issues: ParsedIssue[] = [];
  for (const each of cases) {
    const result = resultOf(each);
    named[result].push(nameOf(each));
    const group = each.file ?? each.owner;
    if (result !== 'skipped' && group !== '') groups.set(group, (groups.get(group) ?? 0) + 1);
    if (result === 'failed') issues.push(issueOf(each, place));
  }
  const counts = countTests({
    passed: named.passed.length,
    failed: named.failed.length,
    skipped: named.skipped.length,
  });
  const all: TestGroup[] = [...groups].map(([name, ran]) => ({ name, ran }));
  return { tests: counts, names: { ...named, isComplete: true, groups: all }, issues };
}

/** A todo of node:test that fails has both: its failure does not matter. */
function resultOf({ isFailed, isBroken, isSkipped }: Case): keyof NamedTests {
  if (isBroken || (isFailed && !isSkipped)) return 'failed';
  return isSkipped ? 'skipped' : 'passed';
}

function nameOf({ file, owner, name }: Case): string {
  return testName([file, owner === file ? null : owner, name]);
}

function issueOf({ file, owner, name, line, detail }: Case, place: ReportPlace): ParsedIssue {
  const said = detail.split('\n').find((each) => each.trim() !== '');
  return {
    issueType: 'Error',
    source: 'Test',
    file,
    code: null,
    message: place.normalise(testName([owner === file ? null : owner, name])),
    ...(line === undefined ? {} : { line }),
    ...(said === undefined ? {} : { detail: place.normalise(said.trim()) }),
  };
}
