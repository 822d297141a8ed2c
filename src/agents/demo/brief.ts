/** What the demo agent takes from its brief. It reads by meaning, not by layout: a brief may change its form. */
import type { SharpS } from './sources.ts';

/** The person's answer: a section or a line that is called an answer. `null`: the brief has none. */
export function readAnswer(brief: string): string | null {
  const lines = brief.split(/\r?\n/);
  const at = lines.findIndex((line) => HEADING.test(line));
  const section = at === -1 ? [] : lines.slice(at + 1, nextHeading(lines, at + 1));
  const text = section.join('\n').trim();
  const answer =
    FENCE.exec(text)?.[2]?.trim() || text || LABEL.exec(brief)?.[1]?.trim() || TAG.exec(brief)?.[1]?.trim();
  return answer?.slice(0, MAX_ANSWER_LENGTH) || null;
}

/** Where a section quotes somebody in a fence, the rest is Pulse's. */
export const FENCE = /^(`{3,})\w*\n([\s\S]*?)\n\1$/m;
const HEADING = /^#{1,6}\s.*\banswer/i;
const LABEL = /^[ \t>*_-]*(?:the |your |a |person's )*answer[ *_]*:[ *_]*(\S.*)$/im;
const MAX_ANSWER_LENGTH = 2000;
const TAG = /<answer>([^<]*)<\/answer>/i;

function nextHeading(lines: readonly string[], from: number): number {
  const next = lines.findIndex((line, index) => index >= from && /^#{1,6}\s/.test(line));
  return next === -1 ? lines.length : next;
}

/**
 * What an answer says about ß. In doubt "ss", the usual spelling. A question that is quoted with it, and what it says
 * *not* to do, do not count.
 */
export function readChoice(answer: string): SharpS {
  const stated = answer.replace(QUESTION, '');
  const wanted = (/\p{L}/u.test(stated) ? stated : answer).replace(REFUSAL, '');
  if (/\bss\b|strasse/i.test(wanted)) return 'ss';
  return /\b(?:drop|remov|omit|delet|skip|ignor|leave|strip|strae)/i.test(wanted) ? 'dropped' : 'ss';
}

const QUESTION = /[^.?!\n]*\?/g;
const REFUSAL = /(?:\bnot|n't|\bnever|\binstead of|\brather than)\s+(?:\p{L}+\s+){0,2}\W?\p{L}+/giu;

/** The names of the tests that a runner's output in the brief calls failed (node's spec and TAP reporters). */
export function failingTests(brief: string): string[] {
  const names = Array.from(brief.matchAll(/(?:not ok \d+ - |✖ )([^\n]+)/g), (match) =>
    match[1]!.replace(/\s+\(\d[\d.]*m?s\)\s*$/, '').trim(),
  );
  const tests = names.filter((name) => !name.startsWith('failing tests') && !/\.[cm]?[jt]s$/.test(name));
  return [...new Set(tests)];
}
