/** Parses JSON; `undefined` if the text is not JSON. Never throws. */
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

/** The value, if it is an object. */
export function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

/** How many characters of a cut line are searched for a field. */
const BEGINNING = 1000;

/**
 * Reads a short text field at the beginning of a line that the host has cut, so that it is no longer JSON. Quotes inside
 * a text are escaped, so words of an agent or a tool are never taken for a field.
 */
export function readFieldOfCutLine(line: string, name: string): string | null {
  return new RegExp(`"${name}":"([^"\\\\]{1,200})"`).exec(line.slice(0, BEGINNING))?.[1] ?? null;
}
