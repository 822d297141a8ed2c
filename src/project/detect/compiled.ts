/** Cargo, Go, .NET, Maven and Gradle. */
import { type Findings, folderOf, inFolder, isBelow, merge, nothing, verifyIn } from './plan.ts';
import type { WorktreeView } from './worktree.ts';

export function detectCargo(view: WorktreeView): Findings {
  return merge(
    outermost(foldersWith(view, /^Cargo\.toml$/), (folder) =>
      /^\[workspace\]/m.test(view.read(inFolder(folder, 'Cargo.toml')) ?? ''),
    ).map((folder) => {
      const found = nothing();
      const path = inFolder(folder, 'Cargo.toml');
      const text = view.read(path) ?? '';
      const isWorkspace = /^\[workspace\]/m.test(text);
      if (view.exists(inFolder(folder, 'Cargo.lock'))) {
        const why = `${inFolder(folder, 'Cargo.lock')} is there`;
        found.steps.push({ command: 'cargo fetch --locked', cwd: folder, why, isLocked: true });
      } else if (
        isWorkspace ||
        /^\[(?:[\w.'"()= -]+\.)?(?:dev-|build-)?dependencies(?:\.[\w-]+)?\]/m.test(text)
      ) {
        found.doubts.push(
          `${path} has dependencies and no Cargo.lock: nobody can say which versions were meant`,
        );
        found.steps.push({ command: 'cargo fetch', cwd: folder, why: `${path} is there` });
      }
      const all = isWorkspace ? ' --workspace' : '';
      found.verify.push(verifyIn(folder, `cargo build${all} --all-targets`, 'Build'));
      if (['clippy.toml', '.clippy.toml'].some((name) => view.exists(inFolder(folder, name)))) {
        found.verify.push(verifyIn(folder, `cargo clippy${all} --all-targets`, 'Lint'));
      }
      found.verify.push(verifyIn(folder, `cargo test${all} --no-fail-fast`, 'Test'));
      return found;
    }),
  );
}

export function detectGo(view: WorktreeView): Findings {
  return merge(
    foldersWith(view, /^go\.mod$/).map((folder) => {
      const found = nothing();
      const path = inFolder(folder, 'go.mod');
      const hasRequirements = /^\s*require\b/m.test(view.read(path) ?? '');
      if (view.exists(inFolder(folder, 'vendor/modules.txt'))) {
        found.notes.push(`${path}: its dependencies are vendored`);
      } else if (view.exists(inFolder(folder, 'go.sum'))) {
        found.steps.push({
          command: 'go mod download',
          cwd: folder,
          why: `${inFolder(folder, 'go.sum')} is there`,
          isLocked: true,
        });
      } else if (hasRequirements) {
        found.doubts.push(`${path} has requirements and no go.sum`);
        found.steps.push({ command: 'go mod download', cwd: folder, why: `${path} has requirements` });
      }
      found.verify.push(
        verifyIn(folder, 'go build ./...', 'Build'),
        verifyIn(folder, 'go vet ./...', 'Lint'),
        verifyIn(folder, 'go test ./...', 'Test'),
      );
      return found;
    }),
  );
}

const PROJECT = /^[^/]+\.(?:cs|fs|vb)proj$/;

export function detectDotnet(view: WorktreeView): Findings {
  const projects = view.paths.filter((path) => PROJECT.test(path.split('/').at(-1)!));
  const solutions = foldersWith(view, /\.slnx?$/);
  const folders = solutions.length > 0 ? outermost(solutions, () => true) : foldersWith(view, PROJECT);
  return merge(
    folders.map((folder) => {
      const found = nothing();
      const own = projects.filter((path) => folderOf(path) === folder || isBelow(folderOf(path), folder));
      const entries = view.paths.filter(
        (path) => folderOf(path) === folder && /\.(?:slnx?|[cfv][sb]proj)$/.test(path),
      );
      const starts = entries.filter((path) => /\.slnx?$/.test(path));
      if ((starts.length > 0 ? starts : entries).length > 1) {
        found.doubts.push(
          `${folder === '.' ? 'the root' : folder} has several solutions or projects: dotnet needs to know which`,
        );
      }
      const floating = own.filter((path) => /Version="[^"]*\*[^"]*"/.test(view.read(path) ?? ''));
      const isLocked = own.some((path) => view.exists(inFolder(folderOf(path), 'packages.lock.json')));
      if (floating.length > 0 && !isLocked)
        found.doubts.push(`${floating[0]} has floating versions and no packages.lock.json`);
      const command = isLocked ? 'dotnet restore --locked-mode' : 'dotnet restore';
      const why = isLocked ? 'packages.lock.json is there' : 'the project files name exact versions';
      found.steps.push({ command, cwd: folder, why, ...(isLocked ? { isLocked } : {}) });
      found.verify.push(verifyIn(folder, 'dotnet build --no-restore', 'Build'));
      if (
        own.some((path) => /Microsoft\.NET\.Test\.Sdk|xunit|NUnit|MSTest|TUnit/i.test(view.read(path) ?? ''))
      ) {
        found.verify.push(verifyIn(folder, 'dotnet test --no-restore', 'Test'));
      }
      return found;
    }),
  );
}

/** Both fetch what they need with the build itself: the step proves that the tool, the JDK and the files work. */
export function detectJvm(view: WorktreeView): Findings {
  const maven = outermost(foldersWith(view, /^pom\.xml$/), () => true).map((folder) => {
    const found = nothing();
    const text = view.read(inFolder(folder, 'pom.xml')) ?? '';
    const tool = `${view.exists(inFolder(folder, 'mvnw')) ? './mvnw' : 'mvn'} -B -ntp`;
    if (/<version>\s*(?:LATEST|RELEASE|[[(])/.test(text))
      found.doubts.push(`${inFolder(folder, 'pom.xml')} has open versions`);
    found.steps.push({
      command: `${tool} validate`,
      cwd: folder,
      why: `${inFolder(folder, 'pom.xml')} is there`,
    });
    found.verify.push(
      verifyIn(folder, `${tool} test-compile`, 'Build'),
      verifyIn(folder, `${tool} test`, 'Test'),
    );
    return found;
  });
  const gradle = outermost(foldersWith(view, /^(?:settings|build)\.gradle(?:\.kts)?$/), () => true).map(
    (folder) => {
      const found = nothing();
      const text = ['build.gradle', 'build.gradle.kts']
        .map((name) => view.read(inFolder(folder, name)) ?? '')
        .join('\n');
      const tool = `${view.exists(inFolder(folder, 'gradlew')) ? './gradlew' : 'gradle'} --console=plain`;
      if (/:(?:\d[\w.]*)?\+['"]|:latest\.\w+['"]/.test(text))
        found.doubts.push(`${inFolder(folder, 'build.gradle')} has open versions`);
      found.steps.push({ command: `${tool} help`, cwd: folder, why: 'a Gradle build is there' });
      found.verify.push(
        verifyIn(folder, `${tool} testClasses`, 'Build'),
        verifyIn(folder, `${tool} test`, 'Test'),
      );
      return found;
    },
  );
  const both = maven.length > 0 && gradle.length > 0;
  const doubt = { ...nothing(), doubts: ['there is a Maven and a Gradle build'] };
  return merge([...maven, ...gradle, ...(both ? [doubt] : [])]);
}

function foldersWith(view: WorktreeView, name: RegExp): string[] {
  return [...new Set(view.paths.filter((path) => name.test(path.split('/').at(-1)!)).map(folderOf))];
}

/** Without those that a folder above them takes along. */
function outermost(folders: readonly string[], takesAlong: (folder: string) => boolean): string[] {
  return folders.filter((folder) => !folders.some((other) => isBelow(folder, other) && takesAlong(other)));
}
