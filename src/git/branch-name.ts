/** Names of branches: what git accepts, and what a session's is called when nobody says. */
import { PulseError } from '../domain/errors.ts';
import type { Git } from './exec.ts';

/** Throws `invalid_input` for what `git check-ref-format --branch` would refuse. 0 git processes. */
export function assertBranchName(name: string): void {
  const reason = refusal(name);
  if (reason === null) return;
  throw new PulseError('invalid_input', `"${name}" is no branch name: ${reason}`, {
    hint: 'Use letters, digits, "-", "_" and "/", such as pulse/add-login.',
    data: { branch: name },
  });
}

export interface BranchWish {
  root: string;
  goal: string;
  /** Four characters of the session's id. */
  shortId: string;
}

/**
 * `pulse/<slug>-<4>`, or `pulse-<slug>-<4>` where a branch `pulse` is in the way; a name that is taken gets `-2` and
 * so on. 1 git process.
 */
export async function defaultBranchName(git: Git, { root, goal, shortId }: BranchWish): Promise<string> {
  const format = '--format=%(refname:strip=2)';
  const patterns = ['refs/heads/pulse', 'refs/heads/pulse-*'];
  const taken = new Set((await git.text(['for-each-ref', format, ...patterns], { cwd: root })).split('\n'));
  const wanted = `pulse${taken.has('pulse') ? '-' : '/'}${branchSlug(goal)}-${branchSlug(shortId)}`;
  for (let suffix = 1; ; suffix++) {
    const name = suffix === 1 ? wanted : `${wanted}-${suffix}`;
    if (!taken.has(name)) return name;
  }
}

/** Lower-case ASCII words of a text, joined by dashes, at most 40 characters, never empty. */
export function branchSlug(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  let slug = '';
  for (const word of plain.match(/[a-z0-9]+/g) ?? []) {
    const longer = slug === '' ? word.slice(0, SLUG_LENGTH) : `${slug}-${word}`;
    if (longer.length > SLUG_LENGTH) break;
    slug = longer;
  }
  return slug || 'session';
}

const SLUG_LENGTH = 40;

function refusal(name: string): string | null {
  if (name === '') return 'it is empty';
  if (Buffer.byteLength(name) > 200) return 'it is longer than 200 bytes';
  if (name.startsWith('-')) return 'it begins with "-"';
  if (name === 'HEAD') return 'HEAD is reserved';
  const forbidden = /[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.exec(name);
  if (forbidden) return `${JSON.stringify(forbidden[0])} is not allowed`;
  if (name === '@' || name.endsWith('.')) return `it may not end like this`;
  for (const part of name.split('/')) {
    if (part === '') return 'a "/" is at an end or twice in a row';
    if (part.startsWith('.') || part.endsWith('.lock')) return `"${part}" is not allowed as a part`;
  }
  return null;
}
