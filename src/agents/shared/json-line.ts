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

/** How far into a line that the host has cut its first fields are looked for. */
const BEGINNING = 1000;

/**
 * A short text field at the beginning of a line that is no JSON any more. Within a text quotes are escaped, so that
 * nothing an agent or a tool wrote is taken for one.
 */
export function fieldOfCutLine(line: string, name: string): string | null {
  return new RegExp(`"${name}":"([^"\\\\]{1,200})"`).exec(line.slice(0, BEGINNING))?.[1] ?? null;
}
