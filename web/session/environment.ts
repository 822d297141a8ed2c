/** Where the commands ran, in words; it is stored as JSON. */
export function formatEnvironment(text: string): string {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    return Object.entries(value)
      .filter(([, part]) => typeof part === 'string' || typeof part === 'number')
      .map(([name, part]) => `${name} ${String(part)}`)
      .join(', ');
  } catch {
    return text;
  }
}
