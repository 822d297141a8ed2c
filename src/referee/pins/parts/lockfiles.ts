/** Where a lockfile takes a runner's package from, if that is a place in the repository or in another one. */
import { jsonMembers } from './json-members.ts';
import { isObject, memberOf } from './json-text.ts';
import { lineDirectives } from './line-directives.ts';
import { isRunnerPackage, packageOrigins } from './package-json.ts';
import type { Part } from './part.ts';

const NAME = 'where runners come from';

/** Of npm: `"node_modules/vitest": {"resolved": "file:…"}`, or a link. */
export const packageLock: Part = jsonMembers(NAME, (key) => {
  if (key !== 'packages') return false;
  return (path, entry) => {
    if (!isRunnerPackage(path.split('node_modules/').at(-1)!) || !path.includes('node_modules/'))
      return false;
    if (!isObject(entry)) return true;
    const resolved = memberOf(entry, 'resolved')?.value;
    const isLink = memberOf(entry, 'link')?.value === true;
    return isLink || (typeof resolved === 'string' && !/^https?:/.test(resolved));
  };
});

/** Of yarn, pnpm and bun: a line that has both the name and the place. */
export const textLock: Part = lineDirectives(NAME, (line) => {
  const elsewhere = /(?:^|[\s"'@])(?:file|link|portal|workspace|git\+\w+|patch):/.test(line);
  return elsewhere && (line.match(/@?[\w.-]+(?:\/[\w.-]+)?/g) ?? []).some(isRunnerPackage);
});

/** Of pip: a runner from a folder or an address. */
export const requirements: Part = lineDirectives(
  NAME,
  (line) =>
    /^(?:_?pytest|pluggy|coverage|hypothesis|tox|nox|mypy|ruff)[\w.[\]-]*\s*@/.test(line) ||
    /^(?:-e|--editable|-f|--find-links|-i|--index-url|--extra-index-url|\.{1,2}\/|file:)/.test(line),
);

/** Parts that are empty in nearly every repository. */
export const ORIGINS: ReadonlySet<Part> = new Set([packageLock, textLock, requirements, packageOrigins]);
