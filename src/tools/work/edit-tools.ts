/** `write_file`, `edit_file` and `multi_edit`. A failed one changes nothing. */
import * as z from 'zod';
import type { Tool } from '../contract.ts';
import type { Work } from './context.ts';
import { applyEdits, type Edit, withLineEndsOf } from './edits.ts';
import { changed, type FileContent, hashOf, isBinary, readWhole, replaceFile } from './files.ts';
import { resolveWorkPath, type WorkPath } from './paths.ts';
import { defineWorkTool, ToolRefusal } from './refusal.ts';

const path = z.string().min(1).max(4096).describe('From the root of the worktree.');
const edit = z.object({
  oldString: z.string().min(1).describe('Exactly as it is in the file, white space included.'),
  newString: z.string(),
  replaceAll: z.boolean().optional().describe('Every place, not just one.'),
});

export function writeFileTool(work: Work): Tool {
  return defineWorkTool({
    name: 'write_file',
    description:
      'Create a file with this content, or replace a whole file that you have read. Missing folders are made. Line ends and byte order mark of a replaced file are kept.',
    input: z.object({ path, content: z.string() }),
    call: ({ path: given, content }) =>
      work.edits.inTurn(async () => {
        if (!content.isWellFormed())
          throw new ToolRefusal('The content holds half a character (a lone surrogate).');
        const target = await resolveForEdit(work, given);
        const old = target.exists ? await readSeen(work, target) : null;
        const bytes = old ? inTheMannerOf(old.content, content) : Buffer.from(content);
        await save(work, target, { old, bytes });
        const lines = bytes.length === 0 ? 0 : countLines(bytes);
        return { ok: true, output: `${old ? 'Replaced' : 'Created'} ${target.shown} (${lines} lines).` };
      }),
  });
}

export function editFileTool(work: Work): Tool {
  return defineWorkTool({
    name: 'edit_file',
    description:
      'Replace oldString by newString in a file that you have read. oldString must be there exactly once, unless replaceAll is set.',
    input: z.object({ path, ...edit.shape }),
    call: ({ path: given, ...only }) => work.edits.inTurn(() => editFile(work, { given, edits: [only] })),
  });
}

export function multiEditTool(work: Work): Tool {
  return defineWorkTool({
    name: 'multi_edit',
    description:
      'Several exact replacements in one file, in order, each on the result of the one before: all of them, or none.',
    input: z.object({ path, edits: z.array(edit).min(1).max(500) }),
    call: ({ path: given, edits }) => work.edits.inTurn(() => editFile(work, { given, edits })),
  });
}

async function editFile(work: Work, { given, edits }: { given: string; edits: Edit[] }) {
  const target = await resolveForEdit(work, given);
  if (!target.exists) throw new ToolRefusal(`There is no ${target.shown}. Use write_file to create it.`);
  const old = await readSeen(work, target);
  const bytes = applyEdits(old.content, edits, work.limits.maxEditBytes);
  await save(work, target, { old, bytes });
  const what = edits.length === 1 ? '1 edit' : `${edits.length} edits`;
  return { ok: true, output: `Edited ${target.shown} (${what}).` };
}

/** By its real path: a link inside of the worktree is no way around the rule of its run. */
async function resolveForEdit(work: Work, given: string): Promise<WorkPath> {
  const target = resolveWorkPath(work.root, given);
  const reason = await work.refuseEdit(target.shown);
  if (reason !== null) throw new ToolRefusal(reason);
  return target;
}

/** What is there now, if it is what the agent has seen. */
async function readSeen(work: Work, { path: real, shown }: WorkPath): Promise<FileContent> {
  const file = await readWhole(real, work.limits.maxEditBytes);
  if (isBinary(file.content)) throw new ToolRefusal(`${shown} is a binary file: it is not edited as text.`);
  const seen = work.seen.get(real);
  if (seen === undefined) throw new ToolRefusal(`Read ${shown} with read_file before you change it.`);
  if (seen !== hashOf(file.content)) throw changed();
  if ((file.mode & 0o222) === 0) throw new ToolRefusal(`${shown} is marked read-only.`);
  return file;
}

async function save(
  work: Work,
  { path: real }: WorkPath,
  { old, bytes }: { old: FileContent | null; bytes: Buffer },
): Promise<void> {
  const { maxEditBytes: maxBytes } = work.limits;
  if (bytes.length > maxBytes)
    throw new ToolRefusal(`A file written here may have ${maxBytes} bytes at most.`);
  const expectedHash = old ? hashOf(old.content) : null;
  await replaceFile(work.root, real, { content: bytes, expectedHash, mode: old?.mode, maxBytes });
  work.seen.set(real, hashOf(bytes));
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function inTheMannerOf(old: Buffer, content: string): Buffer {
  const text = Buffer.from(withLineEndsOf(old, content));
  const hadMark = old.subarray(0, 3).equals(MARK);
  return hadMark && !text.subarray(0, 3).equals(MARK) ? Buffer.concat([MARK, text]) : text;
}

function countLines(content: Buffer): number {
  let count = content.at(-1) === 10 ? 0 : 1;
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) count++;
  return count;
}
