/**
 * git's paths are bytes. Inside this room they travel as latin1 strings (one character per byte, nothing lost);
 * outside it they are text.
 */

/** Splits `-z` output into its latin1 fields. */
export function splitNul(output: Buffer): string[] {
  const fields = output.toString('latin1').split('\0');
  if (fields.at(-1) === '') fields.pop();
  return fields;
}

/** A latin1 path as text; one that is not UTF-8 in git's own quoted form (`"caf\351"`). */
export function pathText(raw: string): string {
  const bytes = Buffer.from(raw, 'latin1');
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  const quoted = Array.from(bytes, (byte) =>
    byte < 0x20 || byte >= 0x7f || byte === 0x22 || byte === 0x5c
      ? `\\${byte.toString(8).padStart(3, '0')}`
      : String.fromCharCode(byte),
  );
  return `"${quoted.join('')}"`;
}

export function pathRaw(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Sorted by code unit, each once. */
export function sortedPaths(raw: Iterable<string>): string[] {
  return [...new Set(Array.from(raw, pathText))].sort();
}
