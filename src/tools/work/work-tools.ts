/** The nine tools with which an agent works in its worktree. They enforce the rules; a prompt does not. */
import { realpathSync } from 'node:fs';
import type { Tool } from '../contract.ts';
import { DEFAULT_WORK_LIMITS, type Work, type WorkContext } from './context.ts';
import { editFileTool, multiEditTool, writeFileTool } from './edit-tools.ts';
import { createQueue } from './queue.ts';
import { readFileTool } from './read-file.ts';
import { globSearchTool, grepTool, listDirectoryTool } from './search-tools.ts';
import { semanticSearchTool } from './semantic-search.ts';
import { createShellTool } from './shell-tool.ts';

export const WORK_TOOLS = [
  'semantic_search',
  'read_file',
  'list_directory',
  'glob_search',
  'grep',
  'write_file',
  'edit_file',
  'multi_edit',
  'shell',
] as const;

export interface WorkTools extends AsyncDisposable {
  readonly tools: readonly Tool[];
}

/**
 * The tools of one run, with one memory of what its agent has read. Their maker disposes of them when the run
 * is over: that ends a command under way and resolves when nothing of it is left.
 */
export function createWorkTools(context: WorkContext): WorkTools {
  const over = new AbortController();
  const work: Work = {
    root: realpathSync(context.worktree),
    runId: context.runId,
    environment: context.environment,
    sandbox: context.sandbox ?? null,
    limits: { ...DEFAULT_WORK_LIMITS, ...context.limits },
    kept: context.kept ?? [],
    notCode: context.notCode ?? [],
    refuseEdit: context.refuseEdit ?? (async () => null),
    findByMeaning: context.findByMeaning ?? (async () => ({ index: 'lexical', hits: [] })),
    seen: new Map(),
    edits: createQueue(),
    signal: over.signal,
  };
  const shell = createShellTool(work);
  return {
    tools: [
      semanticSearchTool(work),
      readFileTool(work),
      listDirectoryTool(work),
      globSearchTool(work),
      grepTool(work),
      writeFileTool(work),
      editFileTool(work),
      multiEditTool(work),
      shell.tool,
    ],
    async [Symbol.asyncDispose]() {
      over.abort();
      await Promise.all([shell[Symbol.asyncDispose](), work.edits.settled()]);
    },
  };
}
