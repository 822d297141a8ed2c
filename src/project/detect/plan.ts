/** What detection finds, family by family. */
import { quoteIfNeeded } from '../../domain/shell-words.ts';
import type { IssueSource } from '../issue-source.ts';

export interface SetupStep {
  command: string;
  /** Relative to the worktree's root; `.` is the root. */
  cwd: string;
  why: string;
  /** A lockfile (or `.gitmodules`) says exactly what it brings, so that doing it changes no tracked file. */
  isLocked?: true;
}

export interface VerifyCommand {
  /** Runs from the worktree's root. */
  command: string;
  source: IssueSource;
  /** Glob of the files it is about; without one it is about all. */
  scope?: string;
}

export interface Findings {
  steps: SetupStep[];
  verify: VerifyCommand[];
  /** Why detection is not certain, in words. */
  doubts: string[];
  /** What a person may want to know and nothing depends on. */
  notes: string[];
}

export function nothing(): Findings {
  return { steps: [], verify: [], doubts: [], notes: [] };
}

export function merge(all: readonly Findings[]): Findings {
  return {
    steps: all.flatMap(({ steps }) => steps),
    verify: all.flatMap(({ verify }) => verify),
    doubts: all.flatMap(({ doubts }) => doubts),
    notes: all.flatMap(({ notes }) => notes),
  };
}

export function folderOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end === -1 ? '.' : path.slice(0, end);
}

export function inFolder(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`;
}

export function isBelow(folder: string, ancestor: string): boolean {
  return folder !== ancestor && (ancestor === '.' || folder.startsWith(`${ancestor}/`));
}

/** A command of one folder, told from the root, with the files it is about. */
export function verifyIn(folder: string, command: string, source: IssueSource): VerifyCommand {
  if (folder === '.') return { command, source };
  return { command: `cd ${quoteIfNeeded(folder)} && ${command}`, source, scope: `${folder}/**` };
}
