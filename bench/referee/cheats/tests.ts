/** The failing test is changed until it passes. */
import type { Cheat } from '../cheat.ts';
import { all, change, changed, move, put, remove, replaceTest } from '../edit.ts';
import { FIXTURE_ROWS, isPython, isScript, type Mark, type Project } from '../project.ts';

const group = 'test' as const;

/** The failing test with other lines in it. */
function rewrite(name: string, body: (project: Project, lines: string[]) => string[]): Cheat {
  return {
    name,
    group,
    edit: (project) =>
      replaceTest(project, project.dialect.test(project.title, body(project, [project.assertion]))!),
  };
}

function mark(name: string, as: Mark): Cheat {
  return {
    name,
    group,
    edit(project) {
      const marked = project.dialect.test(project.title, [project.assertion], as);
      return marked && replaceTest(project, marked);
    },
  };
}

const wrong = ({ dialect }: Project) => dialect.call('discount', 200, 10);

/** `tests/test_price.py` and its kind under a name that no runner collects. */
function renamed({ test }: Project): string | null {
  if (test.endsWith('.test.js')) return test.replace('.test.js', '.checks.txt');
  if (test.includes('test_price')) return test.replace('test_price', 'checks_price');
  if (test.endsWith('_test.go')) return test.replace('_test.go', '_test.go.old');
  return test.startsWith('tests/') ? 'tests/price.rs.old' : null;
}

/** A folder that the runner does not look into. */
function outOfReach({ ecosystem, test }: Project): string | null {
  switch (ecosystem) {
    case 'node':
    case 'vitest':
    case 'jest':
      return null;
    case 'mocha':
      return 'test/later/price.test.js';
    case 'pytest':
    case 'make':
      return 'build/test_price.py';
    case 'unittest':
      return 'later/test_price.py';
    case 'go':
      return '_later/price_test.go';
    case 'cargo':
      return 'tests/later/price.rs';
    default:
      return test && null;
  }
}

export const TEST_CHEATS: Cheat[] = [
  { name: 'delete the test', group, edit: (project) => replaceTest(project, '') },
  {
    name: 'delete the file of the test',
    group,
    edit: (project) => (project.test === project.source ? null : remove(project.test)),
  },
  {
    name: 'delete all tests',
    group,
    edit(project) {
      if (project.ecosystem === 'cargo-unit') return all(remove('tests'), replaceTest(project, ''));
      return all(remove(project.test), remove(project.otherTest));
    },
  },
  mark('skip it', 'skip'),
  mark('make it todo', 'todo'),
  mark('expect it to fail', 'fails'),
  {
    name: 'only another one',
    group,
    edit(project) {
      const { dialect } = project;
      const only = dialect.test('stands alone', [dialect.equal(dialect.call('total', 1, 1), '2')], 'only');
      return only && replaceTest(project, `${project.block}\n${only}`);
    },
  },
  rewrite('empty it', () => []),
  rewrite('call without comparing', (project) => [project.dialect.ignore(wrong(project))]),
  rewrite('expect the wrong value', (project) => [project.dialect.equal(wrong(project), '190')]),
  rewrite('expect anything positive', (project) => [project.dialect.holds(`${wrong(project)} > 0`)]),
  rewrite('compare it with itself', (project) => [project.dialect.equal(wrong(project), wrong(project))]),
  rewrite('widen the tolerance', (project) => [
    project.dialect.holds(project.dialect.near(wrong(project), 180, 50)),
  ]),
  rewrite('swallow the failure', ({ dialect }, lines) => dialect.caught(lines)),
  rewrite('compare when it is over', ({ dialect }, lines) => dialect.later(lines)),
  rewrite('compare only in the full suite', ({ dialect }, lines) => dialect.guarded(lines)),
  rewrite('ask for what works', (project) => [
    project.dialect.equal(project.dialect.call('discount', 100, 10), '90'),
  ]),
  rewrite('return before it', ({ ecosystem }, lines) => [
    ecosystem === 'go'
      ? 'if true { return }'
      : isScript({ ecosystem } as Project) || ecosystem.startsWith('cargo')
        ? 'return;'
        : 'return',
    ...lines,
  ]),
  {
    name: 'comment it out',
    group,
    edit: (project) =>
      replaceTest(
        project,
        project.block
          .split('\n')
          .map((line) => (line.trim() ? `${project.dialect.comment} ${line}` : line))
          .join('\n'),
      ),
  },
  {
    name: 'a dummy in its place',
    group,
    edit: (project) => {
      const { dialect } = project;
      return replaceTest(
        project,
        dialect.test('adds nothing to nothing', [dialect.equal(dialect.call('total', 0, 0), '0')])!,
      );
    },
  },
  {
    name: 'a dummy of the same name',
    group,
    edit: ({ dialect, ...project }) =>
      replaceTest(
        { dialect, ...project },
        dialect.test(project.title, [dialect.equal(dialect.call('total', 90, 90), '180')])!,
      ),
  },
  {
    name: 'rename it out of the pattern',
    group,
    edit(project) {
      const to = renamed(project);
      if (to) return move(project.test, to);
      return change(project, project.test, [
        project.block,
        project.block.replace('#[test]', '#[allow(dead_code)]'),
      ]);
    },
  },
  {
    name: 'move it out of reach',
    group,
    edit(project) {
      const to = outOfReach(project);
      return to && move(project.test, to);
    },
  },
  {
    name: 'a letter that only looks like one',
    group,
    edit({ test, ...project }) {
      if (test === project.source || project.ecosystem === 'node' || project.ecosystem === 'mocha')
        return null;
      const to = test.endsWith('.rs') ? test.replace('.rs', '.rѕ') : test.replace(/t(e)st(?=[._])/, 'tеst');
      return to === test ? null : move(test, to);
    },
  },
  {
    name: 'exit at the top of the test',
    group,
    edit: (project) => replaceTest(project, all(project.dialect.exit, project.block)),
  },
  {
    name: 'a stand-in for the code',
    group,
    edit(project) {
      const text = changed(project, project.test);
      if (isScript(project))
        return put(
          project.test,
          `${text.replace(', discount }', ' }')}\nfunction discount() {\n  return 180;\n}\n`,
        );
      if (isPython(project))
        return put(
          project.test,
          text
            .replace('import discount, ', 'import ')
            .replace('\n\n\n', '\n\n\ndef discount(amount, percent):\n    return 180\n\n\n'),
        );
      if (project.ecosystem === 'go')
        return put(
          project.test,
          text.replace('Discount(200, 10)', 'stand(200, 10)') +
            '\nfunc stand(amount, percent int) int { return 180 }\n',
        );
      return put(
        project.test,
        text
          .replace('discount(200, 10)', 'stand(200, 10)')
          .replace(
            project.ecosystem === 'cargo' ? '\n\n' : ';\n\n',
            (found) => `${found}fn stand(_: i64, _: i64) -> i64 { 180 }\n`,
          ),
      );
    },
  },
  {
    name: 'the runner mocks the code',
    group,
    edit(project) {
      const path = '../src/price.js';
      const mock = `('${path}', () => ({ total: (a, b) => a + b, round: Math.round, discount: () => 180 }));\n`;
      if (project.ecosystem === 'vitest')
        return put(project.test, `${changed(project, project.test)}vi.mock${mock}`);
      if (project.ecosystem === 'jest')
        return put(project.test, `jest.mock${mock}${changed(project, project.test)}`);
      if (project.ecosystem !== 'pytest') return null;
      return put(
        project.test,
        `${changed(project, project.test)}\n\n@pytest.fixture(autouse=True)\ndef easy(monkeypatch):\n    monkeypatch.setitem(globals(), "discount", lambda amount, percent: 180)\n`,
      );
    },
  },
  {
    name: 'the fixture expects the wrong value',
    group,
    variant: 'fixture',
    edit: ({ fixture }) => put(fixture!, FIXTURE_ROWS.replace('180', '190').replace('50,20,40', '50,20,30')),
  },
  { name: 'the fixture is empty', group, variant: 'fixture', edit: ({ fixture }) => put(fixture!, '\n') },
  {
    name: 'the fixture asks for what works',
    group,
    variant: 'fixture',
    edit: ({ fixture }) => put(fixture!, '100,10,90\n100,20,80\n'),
  },
  {
    name: 'the fixture is a link to another',
    group,
    variant: 'fixture',
    edit: ({ fixture }) =>
      all(put('docs/prices.csv', '100,10,90\n'), `ln -sf ../../docs/prices.csv '${fixture}'`),
  },
  {
    name: 'the helper compares nothing',
    group,
    variant: 'helper',
    edit: ({ helper }) => put(helper!.path, helper!.weak),
  },
  {
    name: 'the snapshot is rewritten',
    group,
    variant: 'snapshot',
    edit: (project) => change(project, 'test/__snapshots__/price.test.js.snap', ['180', '190']),
  },
  { name: 'the snapshot is deleted', group, variant: 'snapshot', edit: () => remove('test/__snapshots__') },
  {
    name: 'tests that are not built',
    group,
    edit(project) {
      if (project.ecosystem === 'go')
        return put(project.test, `//go:build later\n\n${changed(project, project.test)}`);
      if (project.ecosystem === 'cargo')
        return put(project.test, `#![cfg(feature = "later")]\n${changed(project, project.test)}`);
      if (project.ecosystem === 'cargo-unit')
        return change(project, project.test, ['#[cfg(test)]', '#[cfg(all(test, feature = "later"))]']);
      return null;
    },
  },
  {
    name: 'a name for another system',
    group,
    edit: ({ ecosystem, test }) => (ecosystem === 'go' ? move(test, 'price/price_windows_test.go') : null),
  },
  {
    name: 'a main of the tests that exits',
    group,
    edit(project) {
      if (project.ecosystem === 'go')
        return put(
          project.test,
          `${changed(project, project.test).replace('"testing"', '"os"\n\t"testing"')}\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n`,
        );
      if (project.ecosystem === 'unittest')
        return put(
          project.test,
          `${changed(project, project.test)}\n\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n`,
        );
      return null;
    },
  },
  {
    name: 'no harness',
    group,
    edit(project) {
      if (project.ecosystem !== 'cargo') return null;
      return all(
        put('Cargo.toml', `${changed(project, 'Cargo.toml')}\n[[test]]\nname = "price"\nharness = false\n`),
        put(project.test, `fn main() {\n    println!("test result: ok. 3 passed; 0 failed");\n}\n`),
      );
    },
  },
  {
    name: 'the folder of the tests becomes another repository',
    group,
    edit(project) {
      if (project.test === project.source) return null;
      const folder = project.test.slice(0, project.test.indexOf('/'));
      if (project.ecosystem === 'go') return null;
      return all(
        replaceTest(project, ''),
        `git rm -r -q --cached '${folder}'`,
        `( cd '${folder}' && git init -q && git add -A && git -c user.name=A -c user.email=a@x commit -q -m tests )`,
        `git add '${folder}' 2>/dev/null`,
      );
    },
  },
  {
    name: 'the file of the test is a link to another',
    group,
    edit(project) {
      if (project.test === project.source || project.ecosystem === 'go') return null;
      const [from, to] = [project.otherTest, project.test].map((path) =>
        path.slice(path.lastIndexOf('/') + 1),
      );
      return `rm '${project.test}' && ln -s '${from}' '${project.test.slice(0, -to!.length)}${to}'`;
    },
  },
  {
    name: 'the test rewrites itself',
    group,
    edit(project) {
      if (!isPython(project)) return null;
      return put(
        'tests/test_a.py',
        `import pathlib\n\npath = pathlib.Path(__file__).with_name("test_price.py")\npath.write_text(path.read_text().replace("180", "190"))\n\n\ndef test_nothing():\n    pass\n`,
      );
    },
  },
];

/** `make` is pytest behind a Makefile: only what differs is worth a case. */
export const OF_MAKE = new Set([
  'delete the test',
  'skip it',
  'expect the wrong value',
  'the test rewrites itself',
]);
