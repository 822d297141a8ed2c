import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSeen, readWorktree, viewOf } from '../../src/project/detect/worktree.ts';
import { detectPreflight, type Preflight } from '../../src/project/detect.ts';

const DEPENDENT = JSON.stringify({ dependencies: { left: '1.0.0' } });

function detect(files: Record<string, string>): Preflight {
  return detectPreflight(viewOf(files));
}

function stepsOf(files: Record<string, string>): string[] {
  return detect(files).steps.map(({ command, cwd }) => (cwd === '.' ? command : `${cwd}: ${command}`));
}

describe('the lockfile decides the tool', () => {
  it.each<[string, Record<string, string>, string]>([
    ['npm', { 'package-lock.json': '' }, 'npm ci'],
    ['npm by its shrinkwrap', { 'npm-shrinkwrap.json': '' }, 'npm ci'],
    ['pnpm', { 'pnpm-lock.yaml': '' }, 'pnpm install --frozen-lockfile'],
    ['yarn classic', { 'yarn.lock': '# yarn lockfile v1\n' }, 'yarn install --frozen-lockfile'],
    [
      'yarn berry by its lockfile',
      { 'yarn.lock': '__metadata:\n  version: 8\n' },
      'yarn install --immutable',
    ],
    ['yarn berry by its settings', { 'yarn.lock': '', '.yarnrc.yml': '' }, 'yarn install --immutable'],
    ['bun', { 'bun.lock': '' }, 'bun install --frozen-lockfile'],
    ['bun by its binary lockfile', { 'bun.lockb': '' }, 'bun install --frozen-lockfile'],
    ['uv', { 'pyproject.toml': '', 'uv.lock': '' }, 'uv sync --frozen'],
    ['poetry', { 'pyproject.toml': '', 'poetry.lock': '' }, 'poetry install --no-interaction'],
    [
      'pip',
      { 'requirements.txt': 'left==1.0 # why\n--hash=sha256:1\n' },
      'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt',
    ],
    ['cargo', { 'Cargo.toml': '[dependencies]\n', 'Cargo.lock': '' }, 'cargo fetch --locked'],
    ['go', { 'go.mod': 'require x v1\n', 'go.sum': '' }, 'go mod download'],
    ['dotnet', { 'Shop.sln': '', 'src/Shop.csproj': '' }, 'dotnet restore'],
    [
      'dotnet with a lockfile',
      { 'Shop.sln': '', 'src/Shop.csproj': '', 'src/packages.lock.json': '' },
      'dotnet restore --locked-mode',
    ],
    ['maven', { 'pom.xml': '' }, 'mvn -B -ntp validate'],
    ['maven by its wrapper', { 'pom.xml': '', mvnw: '' }, './mvnw -B -ntp validate'],
    ['gradle by its wrapper', { 'build.gradle.kts': '', gradlew: '' }, './gradlew --console=plain help'],
    ['submodules', { '.gitmodules': '' }, 'git submodule update --init --recursive'],
  ])('%s', (_, files, command) => {
    const isNode =
      Object.keys(files).some((name) => /lock|shrinkwrap/.test(name)) &&
      !/uv|poetry|cargo|go |dotnet/.test(command);
    const all: Record<string, string> = isNode ? { ...files, 'package.json': DEPENDENT } : files;
    expect(stepsOf(all)).toEqual([command]);
    expect(detect(all)).toMatchObject({ certain: true, doubts: [] });
  });

  it('and every step says why', () => {
    const { steps } = detect({ 'package.json': DEPENDENT, 'pnpm-lock.yaml': '' });
    expect(steps).toEqual([
      { command: 'pnpm install --frozen-lockfile', cwd: '.', why: 'pnpm-lock.yaml is there', isLocked: true },
    ]);
  });

  it('unless packageManager settles it', () => {
    const files = {
      'package.json': JSON.stringify({ packageManager: 'pnpm@9.1.0' }),
      'pnpm-lock.yaml': '',
      'yarn.lock': '',
    };
    expect(stepsOf(files)).toEqual(['pnpm install --frozen-lockfile']);
    expect(detect(files).certain).toBe(true);
  });
});

describe('detection is not certain', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    [
      'when two lockfiles disagree',
      { 'package.json': DEPENDENT, 'package-lock.json': '', 'yarn.lock': '' },
      /different tools/,
    ],
    [
      'when packageManager and lockfile disagree',
      { 'package.json': '{"packageManager":"pnpm@9"}', 'package-lock.json': '' },
      /packageManager says pnpm/,
    ],
    ['when a manifest has dependencies and no lockfile', { 'package.json': DEPENDENT }, /no lockfile/],
    [
      'when one of several packages has no lockfile',
      { 'a/package.json': DEPENDENT, 'a/package-lock.json': '', 'b/package.json': DEPENDENT },
      /b\/package\.json has dependencies/,
    ],
    ['when requirements are not pinned', { 'requirements.txt': 'left>=1.0\n' }, /does not pin/],
    [
      'when a Python package has no lockfile',
      { 'pyproject.toml': '[project]\ndependencies = [\n"left"]\n' },
      /no lockfile/,
    ],
    [
      'when uv and poetry disagree',
      { 'pyproject.toml': '', 'uv.lock': '', 'poetry.lock': '' },
      /different tools/,
    ],
    ['when a crate has no Cargo.lock', { 'Cargo.toml': '[dependencies]\nleft = "1"\n' }, /no Cargo\.lock/],
    ['when a module has no go.sum', { 'go.mod': 'require x v1\n' }, /no go\.sum/],
    ['when there are two solutions', { 'a.sln': '', 'b.sln': '' }, /several solutions/],
    ['when versions float', { 'a.csproj': '<PackageReference Include="x" Version="1.*" />' }, /floating/],
    ['when a POM asks for the latest', { 'pom.xml': '<version>LATEST</version>' }, /open versions/],
    ['when Maven and Gradle are both there', { 'pom.xml': '', 'build.gradle': '' }, /Maven and a Gradle/],
    ['when only make knows', { Makefile: 'deps:\n\tcurl x\n' }, /only the file itself says/],
    ['when the build is of a kind Pulse does not know', { 'CMakeLists.txt': '' }, /CMakeLists\.txt/],
  ])('%s', (_, files, doubt) => {
    const { certain, doubts } = detect(files);
    expect(certain).toBe(false);
    expect(doubts.join('\n')).toMatch(doubt);
  });

  it('but is where there is nothing to install', () => {
    expect(detect({ 'README.md': '' })).toEqual({
      certain: true,
      steps: [],
      verify: [],
      doubts: [],
      notes: [],
    });
    expect(detect({ 'package.json': '{"scripts":{"test":"node --test"}}' })).toMatchObject({
      certain: true,
      steps: [],
    });
    expect(detect({ 'go.mod': 'module x\n' })).toMatchObject({ certain: true, steps: [] });
    expect(detect({ 'go.mod': 'require x v1\n', 'vendor/modules.txt': '' })).toMatchObject({
      certain: true,
      steps: [],
    });
  });

  it('and does not throw on a manifest that cannot be read', () => {
    expect(detect({ 'package.json': '{ broken', 'package-lock.json': '' }).steps).toHaveLength(1);
  });
});

describe('several packages in one repository', () => {
  it('are installed once at the root of a workspace, but for those it leaves out', () => {
    const root = JSON.stringify({ workspaces: ['packages/*', '!packages/old'] });
    const members = { 'packages/a/package.json': DEPENDENT, 'packages/old/package.json': DEPENDENT };
    const files = { 'package.json': root, 'package-lock.json': '', ...members, 'packages/old/yarn.lock': '' };
    expect(stepsOf(files)).toEqual(['npm ci', 'packages/old: yarn install --frozen-lockfile']);
    expect(detect(files).certain).toBe(true);
  });

  it('are a workspace by pnpm-workspace.yaml too', () => {
    const yaml = 'catalog:\n  x: 1\npackages:\n  # ours\n  - "apps/**"\n  - libs/*\nonly: []\n';
    const files = {
      'package.json': '{}',
      'pnpm-lock.yaml': '',
      'pnpm-workspace.yaml': yaml,
      'apps/x/y/package.json': DEPENDENT,
      'libs/z/package.json': DEPENDENT,
    };
    expect(stepsOf(files)).toEqual(['pnpm install --frozen-lockfile']);
    expect(detect(files).certain).toBe(true);
  });

  it('that stand alone are each installed in their own folder', () => {
    const files = {
      'web/package.json': DEPENDENT,
      'web/yarn.lock': '',
      'api/package.json': DEPENDENT,
      'api/package-lock.json': '',
      'tool/Cargo.toml': '[dependencies]',
      'tool/Cargo.lock': '',
    };
    expect(stepsOf(files).sort()).toEqual([
      'api: npm ci',
      'tool: cargo fetch --locked',
      'web: yarn install --frozen-lockfile',
    ]);
  });

  it('do not include the material of tests and examples', () => {
    const files = {
      'test/fixtures/a/package.json': DEPENDENT,
      'examples/b/Cargo.toml': '[dependencies]',
      'docs/README.md': '',
    };
    expect(detect(files)).toMatchObject({ certain: true, steps: [], verify: [] });
  });

  it('of Cargo, Maven and Gradle are taken along by the root above them', () => {
    const files = {
      'Cargo.toml': '[workspace]\n',
      'Cargo.lock': '',
      'crates/a/Cargo.toml': '[dependencies]',
      'pom.xml': '',
      'mod/pom.xml': '',
    };
    expect(stepsOf(files)).toEqual(['cargo fetch --locked', 'mvn -B -ntp validate']);
  });
});

describe('verification', () => {
  const verifyOf = (files: Record<string, string>): string[] =>
    detect(files).verify.map(
      ({ command, source, scope }) => `${source} ${command}${scope ? ` (${scope})` : ''}`,
    );

  it('comes from the scripts of package.json, with the tool of the lockfile', () => {
    const scripts = {
      build: 'tsc',
      typecheck: 'tsc --noEmit',
      lint: 'eslint .',
      test: 'vitest run',
      start: 'node .',
    };
    expect(verifyOf({ 'package.json': JSON.stringify({ scripts }), 'pnpm-lock.yaml': '' })).toEqual([
      'Build pnpm run build',
      'Build pnpm run typecheck',
      'Lint pnpm run lint',
      'Test pnpm run test',
    ]);
  });

  it('leaves out what never ends, changes files or is a placeholder, and says so', () => {
    const scripts = {
      build: 'tsc --watch',
      lint: 'eslint --fix .',
      test: 'echo "Error: no test specified" && exit 1',
    };
    const { verify, notes } = detect({ 'package.json': JSON.stringify({ scripts }) });
    expect(verify).toEqual([]);
    expect(notes.join('\n')).toMatch(/watches[\s\S]*changes files[\s\S]*placeholder/);
  });

  it('has a scope where a package stands alone', () => {
    expect(verifyOf({ 'web app/package.json': '{"scripts":{"test":"jest"}}' })).toEqual([
      "Test cd 'web app' && npm run test (web app/**)",
    ]);
  });

  it('asks the members of a workspace whose root has no such script', () => {
    const files = {
      'package.json': '{"workspaces":["a"]}',
      'package-lock.json': '',
      'a/package.json': '{"scripts":{"test":"jest"}}',
    };
    expect(verifyOf(files)).toEqual(['Test npm run test --workspaces --if-present']);
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      'cargo',
      { 'Cargo.toml': '[workspace]', 'Cargo.lock': '', 'clippy.toml': '' },
      [
        'Build cargo build --workspace --all-targets',
        'Lint cargo clippy --workspace --all-targets',
        'Test cargo test --workspace --no-fail-fast',
      ],
    ],
    ['go', { 'go.mod': '' }, ['Build go build ./...', 'Lint go vet ./...', 'Test go test ./...']],
    [
      'uv',
      { 'pyproject.toml': '[tool.ruff]\n[tool.pytest.ini_options]\n', 'uv.lock': '' },
      ['Lint uv run --frozen ruff check .', 'Test uv run --frozen pytest'],
    ],
    [
      'pip',
      { 'requirements.txt': 'pytest==9.0.3\nmypy==1.0\n' },
      ['Build .venv/bin/python -m mypy .', 'Test .venv/bin/python -m pytest'],
    ],
    [
      'dotnet',
      { 'a.sln': '', 't/t.csproj': '<PackageReference Include="Microsoft.NET.Test.Sdk" />' },
      ['Build dotnet build --no-restore', 'Test dotnet test --no-restore'],
    ],
    ['maven', { 'pom.xml': '', mvnw: '' }, ['Build ./mvnw -B -ntp test-compile', 'Test ./mvnw -B -ntp test']],
    [
      'gradle',
      { 'settings.gradle': '', 'build.gradle': '' },
      ['Build gradle --console=plain testClasses', 'Test gradle --console=plain test'],
    ],
    [
      'make',
      { Makefile: 'CC := gcc\nall: a.o\n\ntest: all\n\t./run\n.PHONY: test\n' },
      ['Build make all', 'Test make test'],
    ],
    [
      'make beside another build',
      { Makefile: 'test:\n\tgo test\n', 'go.mod': '' },
      ['Build go build ./...', 'Lint go vet ./...', 'Test go test ./...'],
    ],
  ])('is known for %s', (_, files, expected) => {
    expect(verifyOf(files)).toEqual(expected);
  });
});

describe('a real worktree', () => {
  it('is read without what is installed or generated, and no link is followed', async () => {
    using folder = createFolder({
      'package.json': '{"scripts":{"test":"node --test"},"dependencies":{"a":"1"}}',
      'package-lock.json': '{}',
      'node_modules/a/package.json': DEPENDENT,
      'go.mod': 'require x v1\n',
      'vendor/modules.txt': '',
      'vendor/x/package.json': DEPENDENT,
      '.hidden/package.json': DEPENDENT,
      'sub/pyproject.toml': '[tool.pytest.ini_options]\n',
      'sub/uv.lock': '',
    });
    symlinkSync(folder.path, join(folder.path, 'loop'));
    const preflight = detectPreflight(await readWorktree(folder.path));
    expect(preflight.certain).toBe(true);
    expect(preflight.steps.map(({ command, cwd }) => [cwd, command])).toEqual([
      ['.', 'npm ci'],
      ['sub', 'uv sync --frozen'],
    ]);
    expect(preflight.verify.map(({ command }) => command)).toContain('cd sub && uv run --frozen pytest');
  });

  it('is seen by the paths of its files as it is on the disk', async () => {
    const paths = [
      'a/b/c/d/package.json',
      'a/b/c/d/e/package.json',
      'a/node_modules/x/package.json',
      'a/vendor/modules.txt',
      'vendor/x/vendor/modules.txt',
      '.github/package.json',
      '.tool-versions',
      'go.mod',
    ];
    using folder = createFolder(Object.fromEntries(paths.map((path) => [path, ''])));
    const { paths: found } = await readWorktree(folder.path);
    expect(paths.filter(isSeen).sort()).toEqual([...found].sort());
    expect(found).toContain('a/vendor/modules.txt');
  });

  it('of this repository is certain about npm', async () => {
    const { steps, verify } = detectPreflight(await readWorktree(join(import.meta.dirname, '../..')));
    expect(steps).toEqual([
      { command: 'npm ci', cwd: '.', why: 'package-lock.json is there', isLocked: true },
    ]);
    expect(verify.map(({ command }) => command)).toEqual([
      'npm run build',
      'npm run types',
      'npm run lint',
      'npm run test',
    ]);
  });
});

function createFolder(files: Record<string, string>): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'pulse-detect-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
