/** Output as a reader sees it: without colours, links, cursor movements and carriage returns. */

// biome keeps control characters out of literals, so the patterns are built from their codes.
const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
const OSC = new RegExp(`${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?`, 'g');
const CSI = new RegExp(`${ESC}\\[[0-?]*[ -/]*[@-~]`, 'g');
const OTHER = new RegExp(`${ESC}[ -/]*[0-~]?`, 'g');

/** No real diagnostic is longer; without a limit one endless line would cost more than its reading. */
const MAX_LINE = 2000;

export function plainText(output: string): string {
  if (!output.includes(ESC)) return output;
  return output.replace(OSC, '').replace(CSI, '').replace(OTHER, '');
}

/** A bare carriage return overwrites its line, as progress displays do: what was written last is what stands. */
export function linesOf(text: string): string[] {
  return text.split('\n').map((written) => {
    const line = written.trimEnd();
    const start = line.lastIndexOf('\r') + 1;
    return line.slice(start, start + MAX_LINE).trimEnd();
  });
}
