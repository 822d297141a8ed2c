/** Parts of the files that builds are described in: targets, tasks, XML, Gradle, and directives of one line. */
import { describe, expect, it } from 'vitest';
import { gradleBuild } from '../../../src/referee/pins/parts/gradle.ts';
import { composerJson, tsconfig } from '../../../src/referee/pins/parts/json-files.ts';
import { justRules } from '../../../src/referee/pins/parts/justfile.ts';
import { gemfile, goMod, gradleProperties } from '../../../src/referee/pins/parts/line-directives.ts';
import { makeRules } from '../../../src/referee/pins/parts/makefile.ts';
import { targetsPart } from '../../../src/referee/pins/parts/targets.ts';
import { tasksPart } from '../../../src/referee/pins/parts/taskfile.ts';
import { dotnetProject, pomXml } from '../../../src/referee/pins/parts/xml-elements.ts';
import { pnpmWorkspace } from '../../../src/referee/pins/parts/yaml-keys.ts';
import { describePromise } from './promise.ts';

const MAKEFILE = `NODE := node

.PHONY: test clean

test: build
	$(NODE) --test

build:
	cc a.c

clean:
	rm -rf build
`;
const make = targetsPart({
  rules: makeRules,
  base: MAKEFILE,
  goals: new Set(['test']),
  always: ['Makefile'],
})!;
const makeFirst = targetsPart({ rules: makeRules, base: MAKEFILE, goals: new Set(['']) })!;
const JUSTFILE =
  'set shell := ["sh"]\n\n# Tests.\ntest: build\n    node --test\n\nbuild:\n    cc a.c\n\nclean:\n    rm x\n';
const just = targetsPart({ rules: justRules, base: JUSTFILE, goals: new Set(['test']) })!;
const TASKFILE =
  'version: "3"\ntasks:\n  test:\n    deps: [build]\n    cmds: [node --test]\n  build: cc a.c\n  clean: rm x\n';
const task = tasksPart(TASKFILE, new Set(['test']))!;

const RULES = [
  'test: build\n',
  '\tnode --test\n',
  '\ttrue\n',
  'build:\n',
  'clean:\n',
  '%.o: %.c\n',
  'SHELL = x\n',
  '# a\n',
  '\n',
];
describePromise('a Makefile', make, [
  ...RULES,
  'define a\n',
  'endef\n',
  '.PHONY: test\n',
  'x: ; y\n',
  'ifdef A\n',
  'a \\\n',
]);
describePromise('a Makefile’s first target', makeFirst, RULES);
describePromise('a justfile', just, [
  'test: build\n',
  '    node\n',
  '    true\n',
  'build:\n',
  '[private]\n',
  'set x := 1\n',
  '# a\n',
  'other a="b": test\n',
  '\n',
  "'''\n",
]);
describePromise('a Taskfile', task, [
  'tasks:\n',
  '  test: node\n',
  '  test: "true"\n',
  '  other: x\n',
  'version: 3\n',
  '  a*: x\n',
  'env: {A: 1}\n',
  '  x: {aliases: [test]}\n',
  '&a\n',
]);
describePromise('pnpm-workspace.yaml', pnpmWorkspace, [
  'packages: [a]\n',
  'scriptShell: x\n',
  'overrides:\n',
  '  a: b\n',
  'catalog: {a: 1}\n',
  '? \n',
]);
describePromise('pom.xml', pomXml, [
  '<project>',
  '</project>',
  '<build><x/></build>',
  '<version>1</version>',
  '<properties>',
  '</properties>',
  '<skipTests>true</skipTests>',
  '<a>1</a>',
  '<!-- x -->',
  '\n',
]);
describePromise('a project of .NET', dotnetProject, [
  '<Project>',
  '</Project>',
  '<PropertyGroup>',
  '</PropertyGroup>',
  '<Nullable>x</Nullable>',
  '<Version>1</Version>',
  '<ItemGroup><Compile Remove="a"/></ItemGroup>',
  '<ItemGroup><PackageReference/></ItemGroup>',
  '<Target/>',
  '\n',
]);
describePromise('build.gradle', gradleBuild, [
  'plugins {\n',
  '}\n',
  'id("a") version "1"\n',
  'dependencies {\n',
  'version = "1"\n',
  'test {\n',
  'enabled = false\n',
  '// a\n',
  '/* b */\n',
  '"',
  'import a.b\n',
]);
describePromise('go.mod', goMod, [
  'module x\n',
  'replace a => ./b\n',
  'replace (\n',
  '\ta => ../c\n',
  ')\n',
  'require a v1\n',
  '// x\n',
]);
describePromise('gradle.properties', gradleProperties, [
  'a=1\n',
  'org.gradle.x=1\n',
  'skipTests=true\n',
  'latest=1\n',
  '# x\n',
]);
describePromise('a Gemfile', gemfile, [
  "gem 'rspec'\n",
  "gem 'rspec', path: 'x'\n",
  "gem 'a', '1'\n",
  '# rspec path\n',
]);
describePromise('tsconfig.json', tsconfig, [
  '{',
  '}',
  '"compilerOptions": {"strict": true, "paths": {}}',
  '"compilerOptions": {',
  '"strict": false',
  '"target": "es5"',
  ',',
  '"include": ["a"]',
  '// a\n',
  '"compilerOptions": 1',
]);
describePromise('composer.json', composerJson, [
  '{',
  '}',
  ',',
  '"scripts": {"test": "x"}',
  '"require": {"a": "1"}',
  '"config": {"bin-dir": "x", "platform": {}}',
]);

describe('a Makefile', () => {
  it.each([
    ['another recipe', MAKEFILE.replace('--test', '--test || true')],
    ['another variable', MAKEFILE.replace('NODE := node', 'NODE := true')],
    ['a shell of its own', `SHELL := ./fake\n${MAKEFILE}`],
    ['a second rule for a target', `${MAKEFILE}\nbuild:\n\ttrue\n`],
    ['errors that are ignored', `${MAKEFILE}\n.IGNORE: test\n`],
    ['a rule that makes the Makefile', `${MAKEFILE}\nMakefile:\n\ttrue\n`],
    ['a variable for one target', `${MAKEFILE}\ntest: NODE = true\n`],
    ['a file that it includes', `${MAKEFILE}\ninclude other.mk\n`],
    ['a rule with another rule’s name beside it', MAKEFILE.replace('clean:', 'clean test:')],
  ])('is seen to change by %s', (_, claim) => {
    expect(make.extract(claim)).not.toBe(make.extract(MAKEFILE));
    expect(make.extract(make.restore(MAKEFILE, claim))).toBe(make.extract(MAKEFILE));
  });

  it('is unchanged by a target that no check reaches', () => {
    const claim = MAKEFILE.replace('.PHONY: test clean', '.PHONY: test clean docs').replace(
      'rm -rf',
      'rm -fr',
    );
    expect(make.extract(`${claim}\ndocs:\n\tmkdocs\n`)).toBe(make.extract(MAKEFILE));
  });

  it('keeps such a target when the rest is put back', () => {
    const claim = `${MAKEFILE.replace('--test', '--version')}\ndocs:\n\tmkdocs\n`;
    const restored = make.restore(MAKEFILE, claim)!;
    expect(restored).toContain('docs:\n\tmkdocs');
    expect(restored).toContain('$(NODE) --test');
    expect(restored).not.toContain('--version');
  });

  it('is seen to change by another first target, where that is what is made', () => {
    const claim = `fake:\n\ttrue\n${MAKEFILE}`;
    expect(makeFirst.extract(claim)).not.toBe(makeFirst.extract(MAKEFILE));
    expect(make.extract(claim)).toBe(make.extract(MAKEFILE));
  });

  it('is protected whole where nobody can say what a target needs', () => {
    const base = 'test: $(OBJECTS)\n\tnode --test\n';
    expect(targetsPart({ rules: makeRules, base, goals: new Set(['test']) })).toBeNull();
  });
});

describe('a justfile', () => {
  it('is seen to change by what a check reaches, and by settings', () => {
    const changed = [JUSTFILE.replace('node --test', 'true'), JUSTFILE.replace('["sh"]', '["fake"]')];
    for (const claim of changed) expect(just.extract(claim)).not.toBe(just.extract(JUSTFILE));
    expect(just.extract(JUSTFILE.replace('rm x', 'rm y'))).toBe(just.extract(JUSTFILE));
  });
});

describe('a Taskfile', () => {
  it('is seen to change by what a check reaches, and by settings', () => {
    const changed = [
      ...[
        TASKFILE.replace('node --test', 'true'),
        TASKFILE.replace('cc a.c', 'true'),
        `${TASKFILE}env: {A: b}\n`,
      ],
      `${TASKFILE}  other: {cmd: x, aliases: [test]}\n`,
    ];
    for (const claim of changed) expect(task.extract(claim)).not.toBe(task.extract(TASKFILE));
    const free = `${TASKFILE.replace('rm x', 'rm y')}  docs: mkdocs\n`;
    expect(task.extract(free)).toBe(task.extract(TASKFILE));
    expect(task.restore(TASKFILE, free.replace('node --test', 'true'))).toContain('mkdocs');
  });
});

describe('manifests of compiled languages', () => {
  it('of Maven: versions are free, how tests run is not', () => {
    const base =
      '<project>\n  <version>1</version>\n  <properties>\n    <a>1</a>\n  </properties>\n  <build><x/></build>\n</project>\n';
    const free = base.replace('<version>1', '<version>2').replace('<a>1', '<a>2');
    expect(pomXml.extract(free)).toBe(pomXml.extract(base));
    const claim = free
      .replace('<a>2</a>', '<a>2</a><maven.test.skip>true</maven.test.skip>')
      .replace('<x/>', '<y/>');
    const restored = pomXml.restore(base, claim)!;
    expect(restored).toContain('<version>2');
    expect(restored).toContain('<x/>');
    expect(restored).not.toMatch(/skip|<y\/>/);
  });

  it('of Gradle: dependencies are free, test blocks are not', () => {
    const base =
      'plugins {\n  id("a") version "1"\n}\ndependencies {\n  x("a:1")\n}\ntasks.test {\n  useJUnitPlatform()\n}\n';
    const free = base.replace('version "1"', 'version "2"').replace('a:1', 'a:2');
    expect(gradleBuild.extract(free)).toBe(gradleBuild.extract(base));
    const restored = gradleBuild.restore(base, free.replace('useJUnitPlatform()', 'enabled = false'))!;
    expect(restored).toContain('a:2');
    expect(restored).toContain('useJUnitPlatform()');
    expect(restored).not.toContain('enabled');
  });

  it('of .NET: packages are free, tests that are not compiled are not', () => {
    const base =
      '<Project>\n  <ItemGroup><PackageReference Include="a" Version="1" /></ItemGroup>\n</Project>\n';
    expect(dotnetProject.extract(base.replace('"1"', '"2"'))).toBe('');
    const claim = base.replace(
      '</Project>',
      '  <ItemGroup><Compile Remove="*Tests.cs" /></ItemGroup>\n</Project>',
    );
    expect(dotnetProject.restore(base, claim.replace('"1"', '"2"'))).toMatch(/Version="2"(?![\s\S]*Compile)/);
  });

  it('of Go: requirements are free, replacements are not', () => {
    const base = 'module x\n\nrequire a v1\n';
    expect(goMod.extract('module x\n\nrequire a v2\n')).toBe('');
    const claim = 'module x\n\nrequire a v2\n\nreplace (\n\tgithub.com/stretchr/testify => ./fake\n)\n';
    expect(goMod.restore(base, claim)).toBe('module x\n\nrequire a v2\n');
  });

  it('of TypeScript: paths are free, strictness is not', () => {
    const base =
      '{\n  // why\n  "compilerOptions": { "strict": true, "target": "es2022" },\n  "include": ["src"],\n}\n';
    const claim = base.replace('true, ', 'false, "paths": {"a": ["b"]}, ').replace('["src"]', '["src/a.ts"]');
    const restored = tsconfig.restore(base, claim)!;
    expect(restored).toMatch(/"strict": true/);
    expect(restored).toMatch(/"paths"/);
    expect(restored).toMatch(/"include": \["src"\]/);
  });
});
