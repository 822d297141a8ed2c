/** `read_file`: part of a file in numbered lines, and the memory of what the file was. */
import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod';
import type { Tool } from '../contract.ts';
import type { Work, WorkLimits } from './context.ts';
import { isBinary, scanFile } from './files.ts';
import { resolveWorkPath } from './paths.ts';
import { defineWorkTool, ToolRefusal } from './refusal.ts';

const MAX_LINE_BYTES = 4000;

const input = z.object({
  path: z.string().min(1).max(4096).describe('From the root of the worktree.'),
  offset: z.int().min(1).optional().describe('The first line to show, counted from 1.'),
  limit: z.int().min(1).optional().describe('How many lines.'),
});

export function readFileTool(work: Work): Tool {
  return defineWorkTool({
    name: 'read_file',
    description:
      'Read a text file, or with offset and limit a part of it. Each line comes as its number, a tab and its text. A file must be read before it is edited.',
    input,
    async call({ path, offset = 1, limit }) {
      const target = resolveWorkPath(work.root, path);
      if (!target.exists) throw new ToolRefusal(`There is no ${target.shown}.`);
      const page = createPage({ offset, limit, limits: work.limits });
      const hash = await scanFile(target.path, page.take);
      const output = page.end(target.shown);
      work.seen.set(target.path, hash);
      return { ok: true, output };
    },
  });
}

interface PageOptions {
  offset: number;
  limit: number | undefined;
  limits: WorkLimits;
}

/** Collects the lines asked for from a stream of any length; holds no more than it may show. */
function createPage({ offset, limit, limits }: PageOptions) {
  const last = offset - 1 + Math.min(limit ?? limits.maxReadLines, limits.maxReadLines);
  const shown: Line[] = [];
  let room = limits.maxOutputBytes;
  let line = new Line();
  let number = 1;
  let previous = -1;
  let hasPlainEnds = false;

  const isWanted = (): boolean => number >= offset && number <= last && room > 0;

  function take(chunk: Buffer): void {
    const isFirst = previous === -1;
    if (isFirst && isBinary(chunk)) throw new ToolRefusal('It is a binary file: read_file shows text.');
    let at = isFirst && chunk.subarray(0, 3).equals(MARK) ? 3 : 0;
    while (at < chunk.length) at = isWanted() ? takeLine(chunk, at) : skipLines(chunk, at);
    previous = chunk.at(-1) ?? previous;
  }

  function takeLine(chunk: Buffer, from: number): number {
    const at = chunk.indexOf(10, from);
    line.add(chunk.subarray(from, at === -1 ? chunk.length : at));
    if (at === -1) return chunk.length;
    if ((at > 0 ? chunk[at - 1] : previous) !== 13) hasPlainEnds = true;
    endLine();
    return at + 1;
  }

  function endLine(): void {
    room -= line.kept;
    shown.push(line);
    line = new Line();
    number++;
  }

  /** Byte by byte, because a hundred megabytes may be a hundred million lines. */
  function skipLines(chunk: Buffer, from: number): number {
    let before = from > 0 ? chunk[from - 1] : previous;
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === 10) {
        if (before !== 13) hasPlainEnds = true;
        if (++number === offset) return at + 1;
      }
      before = byte;
    }
    return chunk.length;
  }

  function end(name: string): string {
    if (previous !== 10 && previous !== -1) {
      if (isWanted()) endLine();
      else number++;
    }
    const total = number - 1;
    if (total === 0) return `[${name} is empty]`;
    if (shown.length === 0) throw new ToolRefusal(`${name} has only ${total} lines.`);
    // With one plain line end the others' CR is part of what an edit must match.
    const texts = shown.map((each, index) => `${offset + index}\t${each.text(hasPlainEnds)}`);
    const until = offset + shown.length - 1;
    if (until < total)
      texts.push(`[lines ${offset} to ${until} of ${total}; continue with offset ${until + 1}]`);
    return texts.join('\n');
  }

  return { take, end };
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The beginning of a line, and how long it is. */
class Line {
  kept = 0;
  #bytes = 0;
  readonly #parts: Buffer[] = [];

  add(part: Buffer): void {
    const taken = part.subarray(0, MAX_LINE_BYTES - this.kept);
    // A copy: the chunk's memory is used again for the next.
    if (taken.length > 0) this.#parts.push(Buffer.from(taken));
    this.kept += taken.length;
    this.#bytes += part.length;
  }

  text(keepsReturn: boolean): string {
    const bytes = Buffer.concat(this.#parts);
    const cut = this.#bytes - this.kept;
    if (cut > 0) return `${new StringDecoder().write(bytes)}[… ${cut} more bytes in this line]`;
    const hasReturn = !keepsReturn && bytes.at(-1) === 13;
    return bytes.subarray(0, hasReturn ? -1 : undefined).toString();
  }
}
