/** Which packages may be learnt from: MIT, Apache-2.0 and BSD, and nothing else in them. */

const ALLOWED = /^(?:mit(?:-.*)?|expat|apache-?2(?:\.0)?|bsd(?:-[0-9]-clause)?|bsd-?[234]?(?:-clause)?)$/i;

/** By the expression of an npm package. */
export function isAllowedExpression(expression: string): boolean {
  const choices = expression.replaceAll(/[()]/g, ' ').split(/\s+or\s+|\s*\/\s*|\s*\|\s*/i);
  return choices.some((choice) => {
    const parts = choice.split(/\s+and\s+|,\s*/i).map((part) => part.trim());
    return parts.every((part) => ALLOWED.test(part));
  });
}

/** By Debian's machine-readable copyright file: what its `Files` paragraphs say, or `null` if one is not allowed. */
export function licenceOfCopyright(copyright: string): string | null {
  const licences = new Set<string>();
  for (const paragraph of copyright.split(/\n\s*\n/)) {
    const files = /^Files:\s*(.*)/m.exec(paragraph)?.[1];
    const licence = /^License:\s*(.*)/m.exec(paragraph)?.[1]?.trim();
    if (!files || !licence || /^debian\/\S*$/.test(files.trim())) continue;
    if (!isAllowedExpression(licence)) return null;
    licences.add(licence);
  }
  return licences.size > 0 ? [...licences].sort().join('; ') : null;
}
