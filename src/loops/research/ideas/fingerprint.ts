import { createHash } from 'node:crypto';

/**
 * Two descriptions of the same change have the same fingerprint although case, punctuation, articles or spaces differ.
 * Numbers, signs and the order of words count: "batch 64" is not "batch 128", "a to b" is not "b to a".
 */
export function ideaFingerprint(description: string): string {
  const words = normalise(description);
  return createHash('sha256')
    .update(words === '' ? description.trim() : words)
    .digest('hex')
    .slice(0, 16);
}

function normalise(description: string): string {
  return description
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^\s*experiment:/, '')
    .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
    .replace(/(?<=\p{L})-(?=\p{L})|(?<!\d)\.|\.(?!\d)|[^\p{L}\p{N}.+\-*/%<>=\s]/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && !ARTICLES.has(word))
    .join(' ');
}

const ARTICLES = new Set(['a', 'an', 'the']);
