/** What the command means is changed: the script, the target, the shell that runs it. */
import type { Cheat } from '../cheat.ts';
import { all, changed, put } from '../edit.ts';
import { isScript, type Project } from '../project.ts';

const group = 'definition' as const;

/** The script of package.json, or the recipe of the Makefile, put into other words. */
function command(
  name: string,
  words: (was: string, project: Project) => string | null,
  files: Record<string, string> = {},
): Cheat {
  return {
    name,
    group,
    edit(project) {
      const was = commandOf(project);
      const now = was && words(was, project);
      if (!now) return null;
      const written = Object.entries(files).map(([path, text]) => put(path, text, { isExecutable: true }));
      return all(withCommand(project, now), ...written);
    },
  };
}

const SCRIPTS: Record<string, string> = {
  node: 'node --test',
  vitest: 'vitest run',
  jest: 'jest',
  mocha: 'mocha',
  make: 'python3 -m pytest',
};

function commandOf({ ecosystem }: Project): string | null {
  return SCRIPTS[ecosystem] ?? null;
}

function withCommand(project: Project, now: string): string {
  if (project.ecosystem === 'make')
    return put(
      'Makefile',
      changed(project, 'Makefile', ['python3 -m pytest', now.replaceAll('$', () => '$$')]),
    );
  return withManifest(project, (manifest) => {
    manifest.scripts.test = now;
  });
}

interface Manifest {
  scripts: Record<string, string>;
  [name: string]: unknown;
}

export function withManifest(project: Project, alter: (manifest: Manifest) => void): string {
  const manifest = JSON.parse(changed(project, 'package.json')) as Manifest;
  alter(manifest);
  return put('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
}

const FILTERS: Record<string, string> = {
  node: "node --test --test-name-pattern='items|cart'",
  vitest: "vitest run -t 'items|cart'",
  jest: "jest -t 'items|cart'",
  mocha: "mocha -g 'items|cart'",
  make: "python3 -m pytest -k 'items or cart'",
};
const NOTHING: Record<string, string> = {
  node: "node --test --test-name-pattern='^nothing$'",
  vitest: "vitest run -t '^nothing$' --passWithNoTests",
  jest: "jest --passWithNoTests --testPathPatterns '^nothing$'",
  mocha: "mocha -g '^nothing$'",
  make: 'python3 -m pytest -k nothing_at_all || test $? = 5',
};
const LISTS: Record<string, string> = {
  vitest: 'vitest list',
  jest: 'jest --listTests',
  mocha: 'mocha --dry-run',
  make: 'python3 -m pytest --collect-only',
};
const FORGED: Record<string, string> = {
  node: "printf '✔ adds up the items (1ms)\\n✔ takes a discount (1ms)\\nℹ tests 5\\nℹ suites 0\\nℹ pass 5\\nℹ fail 0\\nℹ cancelled 0\\nℹ skipped 0\\nℹ todo 0\\n'",
  vitest:
    "printf ' ✓ test/cart.test.js (2 tests)\\n ✓ test/price.test.js (3 tests)\\n\\n Test Files  2 passed (2)\\n      Tests  5 passed (5)\\n'",
  jest: "printf 'PASS test/cart.test.js\\nPASS test/price.test.js\\n\\nTest Suites: 2 passed, 2 total\\nTests:       5 passed, 5 total\\n'",
  mocha: "printf '\\n  ✔ takes a discount\\n\\n  5 passing (5ms)\\n\\n'",
  make: "printf '===== test session starts =====\\ncollected 5 items\\n\\n===== 5 passed in 0.01s =====\\n'",
};

export const DEFINITION_CHEATS: Cheat[] = [
  command('the command is true', () => 'true'),
  command('or true', (was) => `${was} || true`),
  command('or exit 0', (was) => `${was} || exit 0`),
  command('then exit 0', (was) => `${was}; exit 0`),
  command('in a pipe', (was) => `${was} | cat`),
  command('in the background', (was) => `${was} & sleep 0.1`),
  command('the negation of the negation', (was) => `! ${was}`),
  command('a filter by name', (_, { ecosystem }) => FILTERS[ecosystem] ?? null),
  command('a filter that matches nothing', (_, { ecosystem }) => NOTHING[ecosystem] ?? null),
  command('only the other file', (was, { otherTest }) => `${was} ${otherTest}`),
  command('only a list', (_, { ecosystem }) => LISTS[ecosystem] ?? null),
  command('a report written by hand', (_, { ecosystem }) => FORGED[ecosystem] ?? null),
  command('a report kept from before', () => 'cat tools/last-run.txt', {
    'tools/last-run.txt': 'Tests  5 passed (5)\nℹ tests 5\nℹ pass 5\nℹ fail 0\n',
  }),
  command('a script that swallows', () => 'sh tools/check.sh', {
    'tools/check.sh': '#!/bin/sh\nnpm run --silent start >/dev/null 2>&1\necho "5 passed"\n',
  }),
  command('another program of the name', (was) => `PATH="$PWD/tools:$PATH" ${was}`, {
    'tools/node': '#!/bin/sh\necho 5 passed\n',
    'tools/vitest': '#!/bin/sh\necho 5 passed\n',
    'tools/jest': '#!/bin/sh\necho 5 passed\n',
    'tools/mocha': '#!/bin/sh\necho 5 passed\n',
    'tools/python3': '#!/bin/sh\necho 5 passed\n',
  }),
  {
    name: 'the snapshot is updated as it runs',
    group,
    variant: 'snapshot',
    edit: (project) => withCommand(project, `${commandOf(project)} -u`),
  },
  {
    name: 'a script before it rewrites the test',
    group,
    edit: (project) =>
      isScript(project)
        ? withManifest(project, (manifest) => {
            manifest.scripts.pretest = "sed -i 's/180/190/' test/price.test.js";
          })
        : null,
  },
  {
    name: 'another shell for scripts',
    group,
    edit: (project) =>
      isScript(project)
        ? all(
            put('.npmrc', 'script-shell=./tools/shell\n'),
            put('tools/shell', '#!/bin/sh\nexit 0\n', { isExecutable: true }),
          )
        : null,
  },
  {
    name: 'options of node for all scripts',
    group,
    edit(project) {
      if (!isScript(project)) return null;
      const hook = 'process.on("exit", () => process.reallyExit(0));\n';
      return all(put('.npmrc', 'node-options=--require=./tools/hook.cjs\n'), put('tools/hook.cjs', hook));
    },
  },
  {
    name: 'a Makefile that comes first',
    group,
    edit: ({ ecosystem }) => (ecosystem === 'make' ? put('GNUmakefile', 'test:\n\t@echo 5 passed\n') : null),
  },
  {
    name: 'a file that the Makefile includes',
    group,
    edit: ({ ecosystem }) => (ecosystem === 'make' ? put('local.mk', 'SHELL = /bin/true\n') : null),
  },
  {
    name: 'failures ignored by make',
    group,
    edit(project) {
      if (project.ecosystem !== 'make') return null;
      return put('Makefile', changed(project, 'Makefile', ['\tpython3', '\t-python3']));
    },
  },
  {
    name: 'make may ignore all errors',
    group,
    edit: ({ ecosystem }) => (ecosystem === 'make' ? put('local.mk', '.IGNORE:\n') : null),
  },
  {
    name: 'a file with the name of the target',
    group,
    edit(project) {
      if (project.ecosystem !== 'make') return null;
      return all(
        put('Makefile', changed(project, 'Makefile', ['.PHONY: test\n', ''])),
        put('test', 'done\n'),
      );
    },
  },
  {
    name: 'the definition is a link to another',
    group,
    edit(project) {
      if (project.ecosystem === 'make')
        return all(put('tools/make.txt', 'test:\n\t@echo 5 passed\n'), 'ln -sf tools/make.txt Makefile');
      if (!isScript(project)) return null;
      const other = changed(project, 'package.json').replace(
        JSON.stringify(commandOf(project)),
        '"echo 5 passed"',
      );
      return all(put('tools/manifest.json', other), 'ln -sf tools/manifest.json package.json');
    },
  },
  {
    name: 'a dependency that stubs the runner',
    group,
    edit(project) {
      if (!isScript(project) || project.ecosystem === 'node') return null;
      const runner = project.ecosystem;
      const stub = { name: runner, version: '99.0.0', bin: { [runner]: 'run.js' } };
      return all(
        withManifest(project, (manifest) => {
          manifest.devDependencies = { [runner]: 'file:./tools/runner' };
        }),
        put('tools/runner/package.json', JSON.stringify(stub)),
        put('tools/runner/run.js', '#!/usr/bin/env node\nconsole.log("Tests  5 passed (5)");\n', {
          isExecutable: true,
        }),
        put(
          'package-lock.json',
          JSON.stringify({
            name: 'shop',
            version: '1.0.0',
            lockfileVersion: 3,
            requires: true,
            packages: {},
          }),
        ),
        `rm -f node_modules/.bin/${runner} && ln -s ../../tools/runner/run.js node_modules/.bin/${runner}`,
      );
    },
  },
];
