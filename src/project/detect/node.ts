/** Packages of npm, pnpm, yarn and bun: the lockfile decides the tool; one install at the root of a workspace. */
import type { IssueSource } from '../issue-source.ts';
import { type Findings, folderOf, inFolder, isBelow, merge, nothing, verifyIn } from './plan.ts';
import type { WorktreeView } from './worktree.ts';

type Tool = 'npm' | 'pnpm' | 'yarn' | 'bun';

const LOCKFILES: readonly { name: string; tool: Tool }[] = [
  { name: 'package-lock.json', tool: 'npm' },
  { name: 'npm-shrinkwrap.json', tool: 'npm' },
  { name: 'pnpm-lock.yaml', tool: 'pnpm' },
  { name: 'yarn.lock', tool: 'yarn' },
  { name: 'bun.lock', tool: 'bun' },
  { name: 'bun.lockb', tool: 'bun' },
];

const SCRIPTS: readonly { names: readonly string[]; source: IssueSource }[] = [
  { names: ['build'], source: 'Build' },
  { names: ['typecheck', 'type-check', 'check-types', 'types', 'tsc'], source: 'Build' },
  { names: ['lint'], source: 'Lint' },
  { names: ['test'], source: 'Test' },
];

interface Manifest {
  folder: string;
  scripts: Record<string, string>;
  packageManager: string | null;
  workspaces: readonly string[];
  hasDependencies: boolean;
}

export function detectNode(view: WorktreeView): Findings {
  const manifests = view.paths
    .filter((path) => path === 'package.json' || path.endsWith('/package.json'))
    .map((path) => readManifest(view, folderOf(path)));
  const roots = manifests.filter(
    ({ folder }) => !manifests.some((other) => isBelow(folder, other.folder) && isMember(other, folder)),
  );
  return merge(
    roots.map((root) =>
      detectPackage(
        view,
        root,
        manifests.filter((each) => isMember(root, each.folder)),
      ),
    ),
  );
}

function detectPackage(view: WorktreeView, root: Manifest, members: readonly Manifest[]): Findings {
  const { folder } = root;
  const path = inFolder(folder, 'package.json');
  const locks = LOCKFILES.filter(({ name }) => view.exists(inFolder(folder, name)));
  const tools = [...new Set(locks.map(({ tool }) => tool))];
  const named = toolNamed(root.packageManager);
  const tool = named ?? tools[0] ?? 'npm';
  const found = nothing();
  if (tools.length > 1 && (named === null || !tools.includes(named))) {
    const names = locks.map(({ name }) => name).join(' and ');
    found.doubts.push(
      `${path}: ${names} belong to different tools, and packageManager does not say which one counts`,
    );
  } else if (tools.length === 1 && named !== null && named !== tools[0]) {
    found.doubts.push(`${path}: packageManager says ${named}, but the lockfile is ${locks[0]!.name}`);
  }
  const lock = locks.find((each) => each.tool === tool);
  const needsInstall = root.hasDependencies || members.some(({ hasDependencies }) => hasDependencies);
  if (lock !== undefined) {
    const why =
      named === tool && tools.length > 1
        ? `packageManager names ${tool}`
        : `${inFolder(folder, lock.name)} is there`;
    found.steps.push({ command: installCommand(view, root, tool), cwd: folder, why, isLocked: true });
  } else if (needsInstall) {
    found.doubts.push(`${path} has dependencies and no lockfile: nobody can say which versions were meant`);
    found.steps.push({ command: `${tool} install`, cwd: folder, why: `${path} has dependencies` });
  }
  const scripts = detectScripts(root, tool, members);
  return merge([found, scripts]);
}

function installCommand(view: WorktreeView, { folder, packageManager }: Manifest, tool: Tool): string {
  if (tool === 'npm') return 'npm ci';
  if (tool === 'pnpm' || tool === 'bun') return `${tool} install --frozen-lockfile`;
  const isBerry =
    view.exists(inFolder(folder, '.yarnrc.yml')) ||
    /^yarn@(?:[2-9]|\d{2})/.test(packageManager ?? '') ||
    /^__metadata:/m.test(view.read(inFolder(folder, 'yarn.lock')) ?? '');
  return isBerry ? 'yarn install --immutable' : 'yarn install --frozen-lockfile';
}

function detectScripts(root: Manifest, tool: Tool, members: readonly Manifest[]): Findings {
  const found = nothing();
  for (const { names, source } of SCRIPTS) {
    const name = names.find((each) => root.scripts[each] !== undefined);
    const script = name === undefined ? undefined : root.scripts[name];
    const where = inFolder(root.folder, 'package.json');
    if (name === undefined || script === undefined) {
      const shared = names.find((each) => members.some(({ scripts }) => scripts[each] !== undefined));
      const command = shared === undefined ? null : everyMember(tool, shared);
      if (command !== null) found.verify.push(verifyIn(root.folder, command, source));
    } else if (/no test specified/.test(script)) {
      found.notes.push(`${where}: "${name}" is npm's placeholder, left out`);
    } else if (/\s--watch(?:All)?(?![\w=-])|^(?:nodemon|tsc-watch)\b/.test(script)) {
      found.notes.push(`${where}: "${name}" watches and never ends, left out`);
    } else if (/\s--(?:fix|write)\b/.test(script)) {
      found.notes.push(`${where}: "${name}" changes files, left out`);
    } else {
      found.verify.push(verifyIn(root.folder, `${tool} run ${name}`, source));
    }
  }
  return found;
}

/** A workspace whose root has no such script: each member's own. */
function everyMember(tool: Tool, script: string): string | null {
  if (tool === 'npm') return `npm run ${script} --workspaces --if-present`;
  if (tool === 'pnpm') return `pnpm -r --if-present run ${script}`;
  if (tool === 'bun') return `bun run --filter '*' ${script}`;
  return null; // yarn's own differs from version to version
}

function toolNamed(packageManager: string | null): Tool | null {
  const name = packageManager?.split('@')[0];
  return name === 'npm' || name === 'pnpm' || name === 'yarn' || name === 'bun' ? name : null;
}

function isMember({ folder, workspaces }: Manifest, candidate: string): boolean {
  if (workspaces.length === 0 || !isBelow(candidate, folder)) return false;
  const inside = folder === '.' ? candidate : candidate.slice(folder.length + 1);
  const matches = (pattern: string): boolean => globToRegExp(pattern).test(inside);
  const wanted = workspaces.filter((pattern) => !pattern.startsWith('!'));
  const unwanted = workspaces.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  return wanted.some(matches) && !unwanted.some(matches);
}

function globToRegExp(pattern: string): RegExp {
  const plain = pattern.slice(0, 200).replace(/^\.\//, '').replace(/\/$/, '');
  if (plain.split('*').length > 9) return /^(?!)/; // no such pattern is meant, and it would take long
  const escaped = plain.replace(/[.+^${}()|[\]\\?]/g, '\\$&');
  const body = escaped.replace(/\*\*\/?|\*/g, (stars) => (stars === '*' ? '[^/]*' : '.*'));
  return new RegExp(`^${body}$`);
}

function readManifest(view: WorktreeView, folder: string): Manifest {
  const json = parseObject(view.read(inFolder(folder, 'package.json')) ?? '');
  const { workspaces } = json;
  const packages = Array.isArray(workspaces)
    ? workspaces
    : (workspaces as { packages?: unknown } | null)?.packages;
  const listed = Array.isArray(packages) ? packages.filter((each) => typeof each === 'string') : [];
  return {
    folder,
    scripts: Object.fromEntries(
      Object.entries(objectOf(json.scripts)).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    ),
    packageManager: typeof json.packageManager === 'string' ? json.packageManager : null,
    workspaces: [...listed, ...pnpmPackages(view.read(inFolder(folder, 'pnpm-workspace.yaml')) ?? '')],
    hasDependencies: ['dependencies', 'devDependencies', 'optionalDependencies'].some(
      (field) => Object.keys(objectOf(json[field])).length > 0,
    ),
  };
}

/** The list under `packages:`; the file has no other nesting that matters here. */
function pnpmPackages(yaml: string): string[] {
  const lines = yaml.split('\n');
  const start = lines.findIndex((line) => /^packages:\s*$/.test(line));
  if (start === -1) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^[^\s#-]/.test(line));
  return rest.slice(0, end === -1 ? undefined : end).flatMap((line) => {
    const item = /^\s*-\s*(?:'([^']+)'|"([^"]+)"|([^\s'"#]+))/.exec(line);
    return item === null ? [] : [(item[1] ?? item[2] ?? item[3])!];
  });
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {}; // a broken manifest has nothing to offer; its own tool will say so
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
