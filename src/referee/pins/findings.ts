/** What following the commands has found so far, and the tree that they are followed in. */
import { posix } from 'node:path';
import type { Family } from './families.ts';
import type { Part } from './parts/part.ts';

/** The files of one git tree. */
export interface TreeFiles {
  paths: readonly string[];
  /** The file's text; `null` for what is none: not there, a link, binary. */
  read(path: string): Promise<string | null>;
  /** Many at once, where that is cheaper. */
  readMany?(paths: readonly string[]): Promise<Map<string, string | null>>;
}

export class Findings {
  readonly families = new Set<Family>();
  /** Files that decide, by path, with the reason. */
  readonly named = new Map<string, string>();
  /** Globs of tests that a command or a config names, with the reason. */
  readonly tests = new Map<string, string>();
  readonly unknown = new Set<string>();
  /** Parts of files that depend on what the commands reach; `null`: the whole file. */
  readonly parts = new Map<string, () => Promise<Part | null>>();
  /** Targets and tasks that commands ask for, by file. */
  readonly goals = new Map<string, Set<string>>();
  readonly tree: TreeFiles;
  readonly #files: ReadonlySet<string>;
  readonly #folders: ReadonlySet<string>;

  constructor(tree: TreeFiles) {
    this.tree = tree;
    this.#files = new Set(tree.paths);
    this.#folders = new Set(tree.paths.flatMap(foldersOf));
  }

  hasFile(path: string): boolean {
    return this.#files.has(path);
  }

  hasFolder(path: string): boolean {
    return path === '' || this.#folders.has(path);
  }

  name(path: string, why: string): void {
    if (!this.named.has(path)) this.named.set(path, why);
  }

  addTests(glob: string, why: string): void {
    if (!this.tests.has(glob)) this.tests.set(glob, why);
  }

  /** Whether they are new for this file. */
  addGoals(path: string, goals: readonly string[]): boolean {
    const known = this.goals.get(path) ?? new Set();
    this.goals.set(path, known);
    const fresh = goals.filter((goal) => !known.has(goal));
    for (const goal of fresh) known.add(goal);
    return fresh.length > 0;
  }

  /** Files of this name, in the folder and below it. */
  filesNamed(name: string, folder: string): string[] {
    const prefix = folder === '' ? '' : `${folder}/`;
    return this.tree.paths.filter((path) => path.startsWith(prefix) && posix.basename(path) === name);
  }
}

function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
}
