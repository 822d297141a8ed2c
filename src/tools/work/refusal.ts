/** What a tool cannot or will not do, as the failed call it is. */
import type * as z from 'zod';
import { defineTool, type Tool, type ToolReply } from '../contract.ts';
import { PathRefusal } from './paths.ts';

/** A rule of the tools that a call breaks. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
  readonly reasons: string[];

  constructor(message: string, reasons: string[] = [message]) {
    super(message);
    this.reasons = reasons;
  }
}

/** As `defineTool`; a refusal and what the file system says become replies. Anything else is Pulse's own trouble. */
export function defineWorkTool<T>(tool: {
  name: string;
  description: string;
  input: z.ZodType<T>;
  call(input: T): Promise<ToolReply>;
}): Tool {
  return defineTool({
    ...tool,
    async call(input) {
      try {
        return await tool.call(input);
      } catch (error) {
        return refused(error);
      }
    },
  });
}

function refused(error: unknown): ToolReply {
  if (error instanceof ToolRefusal) return { ok: false, output: error.message, reasons: error.reasons };
  if (error instanceof PathRefusal) return { ok: false, output: error.message, reasons: [error.message] };
  const said = FILE_TROUBLES[(error as NodeJS.ErrnoException).code ?? ''];
  if (said === undefined) throw error;
  return { ok: false, output: said, reasons: [said] };
}

const FILE_TROUBLES: Record<string, string> = {
  ENOENT: 'There is no such file or folder.',
  ENOTDIR: 'A part of the path is a file, not a folder.',
  EISDIR: 'It is a folder, not a file.',
  EEXIST: 'Something of that name was made at the same moment.',
  EACCES: 'The file system does not allow it.',
  EPERM: 'The file system does not allow it.',
  EROFS: 'The file system is read-only.',
  ELOOP: 'A symlink is where a file was.',
  ENXIO: 'It is no ordinary file.',
  ENAMETOOLONG: 'The path is too long.',
  ENOSPC: 'The disk is full.',
};
