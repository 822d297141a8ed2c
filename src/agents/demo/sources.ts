/** What the demo agent writes, from its first try to the last. */

export type SharpS = 'ss' | 'dropped';

/** Good enough for English titles, and wrong for two of the three tests. */
export const NAIVE_SLUGIFY = `/** "Hello World" → "hello-world" */
export function slugify(title) {
  return title.toLowerCase().replace(/[^a-z0-9]/g, '-');
}
`;

export const ACCENTS_SLUGIFY = `/** "Crème Brûlée!" → "creme-brulee" */
export function slugify(title) {
  return title
    .toLowerCase()
    .normalize('NFD')
    .replace(/\\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
`;

export function finalSlugify(choice: SharpS): string {
  const replacement = choice === 'ss' ? "'ss'" : "''";
  return ACCENTS_SLUGIFY.replace('.toLowerCase()', `.toLowerCase()\n    .replaceAll('ß', ${replacement})`);
}

/** Which of the versions above a file is, by what it can do: a person may have touched it. */
export function slugifyStage(source: string | null): 'missing' | 'naive' | 'accents' | 'final' {
  if (source === null) return 'missing';
  if (source.includes('ß')) return 'final';
  return source.includes("normalize('NFD')") ? 'accents' : 'naive';
}

const EXPORT_LINE = "export { slugify } from './slugify.js';";

export function exportsSlugify(index: string): boolean {
  return index.includes('./slugify.js');
}

export function withExport(index: string): string {
  return exportsSlugify(index) ? index : `${EXPORT_LINE}\n${index === '' ? '' : `\n${index}`}`;
}

export function withSharpSTest(tests: string, choice: SharpS): string {
  if (tests.includes('Straße')) return tests;
  const title = choice === 'ss' ? 'writes ß as ss' : 'leaves ß out';
  return `${tests}
test('${title}', () => {
  assert.equal(slugify('Straße'), '${sharpSExample(choice)}');
});
`;
}

export function withUsage(readme: string): string {
  if (readme.includes('## Usage')) return readme;
  return `${readme}
## Usage

\`\`\`js
import { slugify } from './src/index.js';

slugify('Crème Brûlée!'); // 'creme-brulee'
\`\`\`
`;
}

export function sharpSExample(choice: SharpS): string {
  return choice === 'ss' ? 'strasse' : 'strae';
}
