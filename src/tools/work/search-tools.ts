/** `list_directory`, `glob_search` and `grep`: what git ignores is left out, and every answer has an end. */
import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Tool, ToolReply } from '../contract.ts';
import { expandBraces } from './braces.ts';
import type { Work } from './context.ts';
import { type GitEnd, ignoredBelow, streamGit } from './git-files.ts';
import { isGitName, resolveWorkPath } from './paths.ts';
import { defineWorkTool, ToolRefusal } from './refusal.ts';

const MAX_DEPTH = 5;
const MAX_HIT_LENGTH = 400;
const folder = z.string().min(1).max(4096).optional().describe('A folder, from the root of the worktree.');
/** Git reads `:(glob)` before a pattern: `*` then stays within a folder and `**` does not. */
const GLOB = ':(glob)';

export function listDirectoryTool(work: Work): Tool {
  return defineWorkTool({
    name: 'list_directory',
    description: `List a folder: folders end in "/", symlinks show where they lead, ignored entries say so. With depth (up to ${MAX_DEPTH}) also what is below, without what git ignores.`,
    input: z.object({ path: folder, depth: z.int().min(1).max(MAX_DEPTH).optional() }),
    async call({ path = '.', depth = 1 }) {
      const target = resolveWorkPath(work.root, path);
      if (!target.exists) throw new ToolRefusal(`There is no ${target.shown}.`);
      const ignored = await ignoredBelow(work, target.shown);
      const lines = listFolder(work, {
        folder: target.path,
        shown: target.shown,
        depth,
        indent: '',
        ignored,
      });
      const cut = lines.length > work.limits.maxResults;
      const more = cut
        ? [`[more than ${work.limits.maxResults} entries; list a folder below, or use glob_search]`]
        : [];
      const output = [...lines.slice(0, work.limits.maxResults), ...more].join('\n');
      return { ok: true, output: output || `[${target.shown} is empty]` };
    },
  });
}

export function globSearchTool(work: Work): Tool {
  return defineWorkTool({
    name: 'glob_search',
    description:
      'Find files by pattern, such as src/**/*.test.ts or *.{json,yaml}. "*" stays within a folder, "**/" is any depth. Without what git ignores.',
    input: z.object({ pattern: z.string().min(1).max(1000), path: folder }),
    async call({ pattern, path = '.' }) {
      const base = searchBase(work, path);
      const patterns = expandBraces(pattern.replace(/^\.?\//, '')).map((each) => `${GLOB}${base}${each}`);
      const { maxResults } = work.limits;
      const found = new Set<string>();
      const args = ['ls-files', '-co', '--exclude-standard', '--', ...patterns];
      const end = await streamGit(work, args, (name) => {
        if (isThere(work, name)) found.add(name);
        return found.size < maxResults;
      });
      return searchReply([...found].sort(), { end, what: 'files', maxResults });
    },
  });
}

export function grepTool(work: Work): Tool {
  return defineWorkTool({
    name: 'grep',
    description:
      'Search file contents with a regular expression. Answers path:line:text. Without binary files and what git ignores.',
    input: z.object({
      pattern: z.string().min(1).max(2000),
      path: folder.describe('A file or folder to search in.'),
      glob: z.string().min(1).max(1000).optional().describe('Only in files that match, such as **/*.ts.'),
      ignoreCase: z.boolean().optional(),
      maxResults: z.int().min(1).optional(),
    }),
    async call({ pattern, path = '.', glob, ignoreCase = false, maxResults = Number.POSITIVE_INFINITY }) {
      const limit = Math.min(maxResults, work.limits.maxResults);
      const args = {
        flags: ['--untracked', '--exclude-standard', '-I', '-n', '--no-color', ...(ignoreCase ? ['-i'] : [])],
        specs: grepSpecs(work, { path, glob }),
      };
      const run = async (dialect: string) => {
        const hits: string[] = [];
        const end = await streamGit(
          work,
          ['grep', dialect, ...args.flags, '-e', pattern, '--', ...args.specs],
          (line) => {
            hits.push(
              line.length > MAX_HIT_LENGTH ? `${line.slice(0, MAX_HIT_LENGTH).toWellFormed()}…` : line,
            );
            return hits.length < limit;
          },
        );
        return { hits, end };
      };
      const perl = await run('-P');
      // Some builds of git have no Perl expressions.
      const { hits, end } =
        /perl-compatible/i.test(perl.end.stderr) && perl.hits.length === 0 ? await run('-E') : perl;
      return searchReply(hits, { end, what: 'hits', maxResults: limit });
    },
  });
}

interface Listing {
  folder: string;
  shown: string;
  depth: number;
  indent: string;
  ignored: ReadonlySet<string>;
}

/** One entry beyond the limit is enough to know that there are more. */
function listFolder(work: Work, listing: Listing): string[] {
  const { folder, shown, depth, indent, ignored } = listing;
  const entries = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !isGitName(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const lines: string[] = [];
  for (const entry of entries) {
    if (lines.length > work.limits.maxResults) break;
    const name = shown === '.' ? entry.name : `${shown}/${entry.name}`;
    const isIgnored = ignored.has(name);
    lines.push(`${indent}${entryText(entry, folder)}${isIgnored ? ' (ignored)' : ''}`);
    if (depth === 1 || isIgnored || !entry.isDirectory()) continue;
    const below = { folder: join(folder, entry.name), shown: name, depth: depth - 1, indent: `${indent}  ` };
    lines.push(...listFolder(work, { ...listing, ...below }));
  }
  return lines;
}

function entryText(entry: Dirent, folder: string): string {
  if (entry.isDirectory()) return `${entry.name}/`;
  return entry.isSymbolicLink() ? `${entry.name} -> ${readlinkSync(join(folder, entry.name))}` : entry.name;
}

/** The folder as the beginning of a git pattern, its own special characters taken literally. */
function searchBase(work: Work, path: string): string {
  const { shown, exists } = resolveWorkPath(work.root, path);
  if (!exists) throw new ToolRefusal(`There is no ${shown}.`);
  return shown === '.' ? '' : `${shown.replace(/[*?[\]\\]/g, '\\$&')}/`;
}

function grepSpecs(work: Work, { path, glob }: { path: string; glob: string | undefined }): string[] {
  const target = resolveWorkPath(work.root, path);
  if (!target.exists) throw new ToolRefusal(`There is no ${target.shown}.`);
  if (glob === undefined) return [`:(literal)${target.shown}`];
  return expandBraces(glob).map(
    (each) => `${GLOB}${searchBase(work, path)}${each.includes('/') ? each : `**/${each}`}`,
  );
}

/** Git also names files that are in its index and no longer in the worktree. */
function isThere(work: Work, name: string): boolean {
  return lstatSync(join(work.root, name), { throwIfNoEntry: false }) !== undefined;
}

/** Nothing found is an answer, not a failure. */
function searchReply(
  lines: string[],
  { end, what, maxResults }: { end: GitEnd; what: string; maxResults: number },
): ToolReply {
  if (end.isLate) {
    return { ok: false, output: lines.join('\n'), reasons: ['The search took too long. Search in less.'] };
  }
  // `git grep` exits with 1 when it found nothing.
  if (!end.isCut && end.code !== 0 && !(end.code === 1 && end.stderr === '')) {
    throw new ToolRefusal(`The search failed: ${end.stderr || `git exited with ${end.code}`}`);
  }
  if (lines.length === 0) return { ok: true, output: `[no ${what}]` };
  const more = end.isCut ? [`[the first ${maxResults} ${what}; there may be more]`] : [];
  return { ok: true, output: [...lines, ...more].join('\n') };
}
