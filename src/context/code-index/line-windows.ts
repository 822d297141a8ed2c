/** A file cut into pieces small enough to be about one thing. */

export interface Chunk {
  /** Counted from 1; both are in it. */
  startLine: number;
  endLine: number;
  /** Of what it declares, where that is known. */
  name: string | null;
  /** What it is declared in: a class, the type of a method. */
  container: string | null;
}

const WINDOW = 40;
const OVERLAP = 8;

/** Without any knowledge of the language. */
export function lineWindows({ from, to }: { from: number; to: number }): Chunk[] {
  const chunks: Chunk[] = [];
  for (let startLine = from; startLine <= to; startLine += WINDOW - OVERLAP) {
    const endLine = Math.min(startLine + WINDOW - 1, to);
    chunks.push({ startLine, endLine, name: null, container: null });
    if (endLine === to) break;
  }
  return chunks;
}
