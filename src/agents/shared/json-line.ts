/** What a text says as JSON; `undefined` for a text that is none. Never throws. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // cut, or never JSON: the caller knows what that means
  }
}

/** A line of JSON as an object; `null` for everything else. */
export function readJsonObject(line: string): Record<string, unknown> | null {
  return line.startsWith('{') ? asObject(readJson(line)) : null;
}

/** `null` for what is no object. */
export function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
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
