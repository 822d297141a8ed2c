/** Variables that make runners name their tests, so that a check's command stays as it was written. */

/** `go test` says nothing of tests that pass, not even whether there were any; pytest counts and does not name them. */
const WORDS: readonly [variable: string, option: string][] = [
  ['GOFLAGS', '-v'],
  ['PYTEST_ADDOPTS', '-v'],
];

/** Added to what a variable holds already. For the base commit and for the claim alike: they are compared. */
export function namingVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const told = WORDS.map(([variable, option]) => {
    const held = environment[variable]?.trim();
    return [variable, held ? `${held} ${option}` : option];
  });
  return Object.fromEntries(told);
}
