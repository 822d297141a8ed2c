/** What a person says about single lines, as the pulse that follows is told it. */
import * as z from 'zod';

export const ReviewComment = z
  .strictObject({
    path: z.string().min(1).max(4096),
    side: z.enum(['old', 'new']).describe('Which version of the file the line is of.'),
    line: z.int().min(1).max(10_000_000),
    text: z.string().min(1).max(10_000).regex(/\S/, 'must say something'),
  })
  .meta({ id: 'ReviewComment' });
export type ReviewComment = z.output<typeof ReviewComment>;

/** By file and line, behind what is said of the whole. */
export function reviewText(whole: string | undefined, comments: readonly ReviewComment[]): string {
  const sorted = comments.toSorted((a, b) =>
    a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1,
  );
  const places = sorted.map(
    ({ path, side, line, text }) =>
      `- ${JSON.stringify(path)}, line ${line}${side === 'old' ? ' as it was before' : ''}: ${text.trim()}`,
  );
  return [whole ?? '', ...(places.length === 0 ? [] : [places.join('\n')])]
    .filter((part) => part !== '')
    .join('\n\n');
}
