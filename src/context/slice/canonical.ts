/** One text for one value: keys in order, no blanks. Hashes of it are the same on every machine. */
import { createHash } from 'node:crypto';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export function canonicalJson(value: Json): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

export function hashOf(value: Json): string {
  return createHash('sha256').update(canonicalJson(value), 'utf8').digest('hex');
}
