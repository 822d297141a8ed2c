/** A line of JSON as an object; `null` for everything else. Never throws. */
export function readJsonObject(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // cut, or never JSON: the caller makes it `raw`
  }
}
