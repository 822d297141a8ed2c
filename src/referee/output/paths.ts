/** Where a tool says an issue stands, told from the worktree's root. */

export interface Place {
  /** The worktree's root, absolute. */
  root: string;
  /** Where the command ran, absolute; the root unless said otherwise. */
  cwd?: string;
  /** The root with symbolic links resolved, where it differs: tools print that one. */
  realRoot?: string;
}

export type PathMapper = (path: string) => string;

export function createPathMapper(place: Place): PathMapper {
  const roots = rootsOf(place).map((root) => `${root}/`);
  const cwd = place.cwd === undefined ? '' : relativeTo(roots, forward(place.cwd)).replace(/\/$/, '');
  return (path) => {
    const plain = forward(withoutScheme(path.trim()));
    if (!isAbsolute(plain)) return tidy(isAbsolute(cwd) || cwd === '' ? plain : `${cwd}/${plain}`);
    return tidy(relativeTo(roots, plain));
  };
}

/** Every spelling of the root that may stand in a message. */
export function rootsOf({ root, realRoot }: Place): string[] {
  const all = [root, realRoot ?? root].map((path) => forward(path).replace(/\/+$/, ''));
  return [...new Set(all)].filter((path) => path !== '').sort((a, b) => b.length - a.length);
}

function relativeTo(roots: readonly string[], path: string): string {
  const root = roots.find((each) => `${path}/`.startsWith(each));
  return root === undefined ? path : path.slice(root.length);
}

function withoutScheme(path: string): string {
  if (!path.startsWith('file://')) return path;
  const rest = path.slice('file://'.length).replace(/^\/(?=[A-Za-z]:)/, '');
  try {
    return decodeURIComponent(rest);
  } catch {
    return rest; // a stray percent sign: the path as it stands
  }
}

function forward(path: string): string {
  return path.includes('\\') && (!path.includes('/') || /^[A-Za-z]:/.test(path))
    ? path.replaceAll('\\', '/')
    : path;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:\//.test(path);
}

function tidy(path: string): string {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '.' || (part === '' && kept.length > 0)) continue;
    if (part === '..' && kept.length > 0 && kept.at(-1) !== '..' && kept.at(-1) !== '') kept.pop();
    else kept.push(part);
  }
  return kept.join('/');
}
