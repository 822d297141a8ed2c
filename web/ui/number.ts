/** What is typed as a number. One that cannot be read is refused beside its field: JSON would make `null` of it, which lifts a limit. */

/** `usd`: an amount, or `none` for no limit. */
export type NumberKind = 'number' | 'usd';

const NUMBER = /^-?\d+(?:\.\d*)?$/;

/** Why the text is no number; `null`: it is one, or nothing is typed. */
export function numberFault(text: string, kind: NumberKind = 'number'): string | null {
  const typed = text.trim();
  if (typed === '' || isNumber(typed) || (kind === 'usd' && typed === 'none')) return null;
  const meant = typed.replace(',', '.');
  if (meant !== typed && isNumber(meant)) return `“${typed}” is no number: write ${meant}`;
  return `“${typed}” is no number${kind === 'usd' ? ': write an amount, or none for no limit' : ''}`;
}

/** `undefined`: nothing is given. Throws where it is no number. */
export function numberOf(
  label: string,
  text: string,
  kind: NumberKind = 'number',
): number | null | undefined {
  const fault = numberFault(text, kind);
  if (fault) throw new Error(`${label}: ${fault}.`);
  const typed = text.trim();
  if (typed === '') return undefined;
  return typed === 'none' ? null : Number(typed);
}

function isNumber(text: string): boolean {
  return NUMBER.test(text) && Number.isFinite(Number(text));
}
