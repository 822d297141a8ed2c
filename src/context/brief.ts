/** The text an agent gets for one iteration. The same input always gives the same text. */

import {
  type LastOutcome,
  type ProgressLine,
  renderSections,
  type Section,
  type SectionName,
} from './brief-sections.ts';
import type { QuotedContext } from './context-text.ts';
import type { TokenCounter } from './tokens.ts';

/** What any brief may have at most, and what it may have unless it is told otherwise. */
export const MOST_BRIEF_TOKENS = 24_000;

export interface BriefInput {
  goal: string;
  iteration: number;
  /** `null`: no limit. */
  maxIterations: number | null;
  branch: string;
  /** The commands Pulse will run when the agent says COMPLETE. */
  verify: readonly string[];
  /** What failed on the base, a line each. */
  failedOnBase?: readonly string[];
  answer: string | null;
  /** What a person said meanwhile, oldest first. */
  notes?: readonly string[];
  lastOutcome: LastOutcome | null;
  /** Oldest first, as in `progress_log`. */
  progress: readonly ProgressLine[];
  context: QuotedContext | null;
  /** The run can look more up, and is told with what. */
  hasContextTools?: boolean;
  /** Set when the governor saw no progress; asks the agent to stop and think. */
  stagnation: { iterations: number; reason: string } | null;
  /** Tokens the whole text may have. */
  budget?: number;
  countTokens: TokenCounter;
}

export interface Brief {
  text: string;
  /** Tokens of `text` itself: what is really sent. */
  tokens: number;
  sections: { name: SectionName; tokens: number; cut: boolean }[];
}

/** Which sections give way, first to last. */
const CUT_ORDER: readonly SectionName[] = ['context', 'progress', 'outcome'];
/** What a person said is whole even over the budget, as long as any brief may be so long. Of the rules only endless commands are cut. */
const CUT_AT_LAST: readonly SectionName[] = ['notes', 'answer', 'goal', 'rules'];

export function buildIterationPrompt(input: BriefInput): Brief {
  const { budget = MOST_BRIEF_TOKENS, countTokens } = input;
  const most = Math.min(budget, MOST_BRIEF_TOKENS);
  const fitted = fitSections(renderSections(input), most, countTokens);
  const text = fitted.flatMap(({ text }) => (text === '' ? [] : [joined(text)])).join('');
  const tokens = sumOf(fitted);
  return { text, tokens, sections: fitted.map(({ name, tokens, cut }) => ({ name, tokens, cut })) };
}

/** The account of a brief, always with all of these. Notes count as what a person answered, the diagnosis as the outcome. */
export function accountSections(sections: Brief['sections']): { name: string; tokens: number }[] {
  const parts: Record<string, readonly SectionName[]> = {
    goal: ['goal'],
    rules: ['rules'],
    answer: ['answer', 'notes'],
    outcome: ['outcome', 'diagnostic'],
    progress: ['progress'],
    context: ['context', 'tools'],
  };
  return Object.entries(parts).map(([name, own]) => ({
    name,
    tokens: sections.reduce((sum, each) => sum + (own.includes(each.name) ? each.tokens : 0), 0),
  }));
}

interface Fitted {
  name: SectionName;
  text: string;
  tokens: number;
  cut: boolean;
}

function fitSections(sections: readonly Section[], budget: number, countTokens: TokenCounter): Fitted[] {
  // What alone is longer than any brief need not be counted to its end: it is cut, as all is that gives way before it.
  const tokensOf = (text: string) => (text === '' ? 0 : countTokens(joined(text), MOST_BRIEF_TOKENS));
  const fitted = sections.map(({ name, render }): Fitted => {
    const text = render(Number.POSITIVE_INFINITY);
    return { name, text, tokens: tokensOf(text), cut: false };
  });
  for (const name of [...CUT_ORDER, ...CUT_AT_LAST]) {
    const most = CUT_AT_LAST.includes(name) ? MOST_BRIEF_TOKENS : budget;
    const at = fitted.findIndex((section) => section.name === name);
    if (at === -1 || sumOf(fitted) <= most) continue;
    const limit = most - sumOf(fitted.toSpliced(at, 1));
    const text = limit <= 0 ? '' : longestWithin(sections[at]!, { limit, countTokens });
    fitted[at] = { name, text, tokens: tokensOf(text), cut: true };
  }
  return fitted;
}

/** Each next section begins with a heading, where no token continues: so their sum is what the whole text counts. */
function joined(section: string): string {
  return `${section}\n\n`;
}

/** The most of a section's content whose text has at most `limit` tokens; '' where not even a part fits. */
function longestWithin(
  { render }: Section,
  { limit, countTokens }: { limit: number; countTokens: TokenCounter },
): string {
  let best = '';
  let low = 0;
  // No tokenizer makes a token of more than a few characters out of text; what is longer needs no try.
  let high = Math.min(render(Number.POSITIVE_INFINITY).length, limit * 16);
  while (low <= high) {
    const middle = (low + high) >> 1;
    const text = render(middle);
    if (text !== '' && countTokens(joined(text), limit) <= limit) {
      best = text;
      low = middle + 1;
    } else if (text === '') low = middle + 1;
    else high = middle - 1;
  }
  return best;
}

function sumOf(sections: readonly Pick<Fitted, 'tokens'>[]): number {
  return sections.reduce((sum, { tokens }) => sum + tokens, 0);
}
