/** Whether a new file would be found instead of one that is there: `helpers.js` before `helpers.ts`. */
const CODE = /\.(?:[cm]?[jt]sx?|pyc?|pyi|so|pyd|rb|php|lua)$/;
const FOLDER = /\/(?:index|__init__|mod|package)$/;

export function createShadows(paths: readonly string[]): (path: string) => boolean {
  const modules = new Set(
    paths.filter((path) => CODE.test(path) || path.endsWith('/package.json')).map(moduleOf),
  );
  return (path) => CODE.test(path) && modules.has(moduleOf(path));
}

/** What an import would call it. */
function moduleOf(path: string): string {
  return path.replace(/(?:\.d)?\.[^./]+$/, '').replace(FOLDER, '');
}
