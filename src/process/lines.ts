/** Cuts a byte stream into lines with bounded memory. */
import { StringDecoder } from 'node:string_decoder';

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Hands out the last line if it had no newline. */
  end(): void;
}

/**
 * Each line without its newline, as UTF-8 (bytes that are none become U+FFFD). A line longer than `maxBytes`
 * keeps its beginning and says how much was cut; the rest is never held.
 */
export function createLineSplitter(maxBytes: number, onLine: (line: string) => void): LineSplitter {
  let parts: Buffer[] = [];
  let kept = 0;
  let cut = 0;

  const take = (bytes: Buffer): void => {
    const room = Math.min(bytes.length, maxBytes - kept);
    if (room > 0) parts.push(bytes.subarray(0, room));
    kept += room;
    cut += bytes.length - room;
  };
  const flush = (): void => {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    // The decoder leaves out a character that the cut went through.
    const line = cut === 0 ? bytes.toString() : `${new StringDecoder().write(bytes)}${cutMark(cut)}`;
    parts = [];
    kept = 0;
    cut = 0;
    onLine(line);
  };

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        take(chunk.subarray(from, at));
        flush();
        from = at + 1;
      }
      if (from < chunk.length) take(chunk.subarray(from));
    },
    end() {
      if (kept + cut > 0) flush();
    },
  };
}

function cutMark(bytes: number): string {
  return ` … [cut: ${bytes} more bytes in this line]`;
}
