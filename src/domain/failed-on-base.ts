/** A check that fails before anything is changed (`preflight.base`). */
export interface FailedOnBase {
  command: string;
  exit: number | null;
  /** Those of its tests that are named; the first of them. */
  tests: string[];
}

/** In a line. */
export function failedOnBaseText({ command, exit, tests }: FailedOnBase): string {
  const named = tests.length === 0 ? '' : `: ${tests.slice(0, 3).join(', ')}`;
  const more = tests.length > 3 ? ` and ${tests.length - 3} more` : '';
  return `${command} (${exit === null ? 'it was stopped' : `exit ${exit}`})${named}${more}`;
}

/** What an event tells of them, read with care. */
export function failedOnBaseOf({ failed }: Record<string, unknown>): FailedOnBase[] {
  if (!Array.isArray(failed)) return [];
  return failed.map(({ command, exit, tests }) => ({
    command: String(command),
    exit: typeof exit === 'number' ? exit : null,
    tests: Array.isArray(tests) ? tests.map(String) : [],
  }));
}
