/** How many tokens each section of a loop's brief has, by the headings that Pulse gives its parts. */
import type { TokenCounter } from '../../context/tokens.ts';

const NAMES = ['goal', 'rules', 'answer', 'outcome', 'progress', 'context'] as const;
type Name = (typeof NAMES)[number];

/** A heading that is not among these belongs to the part before it; a brief begins with its goal. */
const HEADINGS: readonly [Name, RegExp][] = [
  [
    'goal',
    /^(?:Goal|Pulse .*|Bead .*|Plan this(?: as beads)?|Preflight|Expected changes|How it is verified)$/,
  ],
  ['goal', /^(?:Metric|Scope|Mend this experiment|Go on with this experiment)$/],
  ['rules', /^(?:Do|Do not|Rules|How to (?:finish|end|end this run)|Tests first|Mail and reservations)$/],
  ['rules', /^(?:Choose the next change, in this order|Stop: your context was compacted|This brief is cut)$/],
  ['rules', /^Your place(?: in the swarm)?$/],
  ['answer', /^(?:(?:Answer|Notes) from the person|Said by a person, or of an earlier try|New messages)$/],
  ['outcome', /^(?:Before this run|What failed before|Debugging|Merge conflict|What the guard caught)$/],
  ['outcome', /^The run before brought no good draft$/],
  ['progress', /^(?:Results so far|The other pulses|Beads that are there already)$/],
  ['context', /^(?:File .*|Files in scope|Locked decisions|Learnings of this bead|What you can look up)$/],
  ['context', /^(?:The plan's approach|Strategy of the plan)$/],
];

/** Their sum is what the whole text counts: a heading begins a line, and no token reaches over its beginning. */
export function accountBrief(text: string, count: TokenCounter): { name: string; tokens: number }[] {
  const tokens: Record<Name, number> = {
    ...{ goal: 0, rules: 0, answer: 0, outcome: 0, progress: 0, context: 0 },
  };
  let name: Name = 'goal';
  for (const part of partsOf(text)) {
    name = nameOf(part.heading) ?? name;
    tokens[name] += count(part.text);
  }
  return NAMES.map((each) => ({ name: each, tokens: tokens[each] }));
}

export function isBooked(heading: string): boolean {
  return nameOf(heading) !== undefined;
}

function nameOf(heading: string): Name | undefined {
  return HEADINGS.find(([, known]) => known.test(heading))?.[0];
}

/** At the headings outside of quotes, which may have some of their own. Joined again they are the text. */
export function partsOf(text: string): { heading: string; text: string }[] {
  const parts: { heading: string; text: string }[] = [];
  let fence: string | null = null;
  for (const line of text.split(/(?<=\n)/)) {
    const mark = /^`{3,}/.exec(line)?.[0];
    const heading = fence === null ? /^##? (.*)$/m.exec(line)?.[1] : undefined;
    if (mark && fence === null) fence = mark;
    else if (mark && line.trimEnd() === fence) fence = null;
    const last = parts.at(-1);
    if (heading !== undefined || !last) parts.push({ heading: heading ?? '', text: line });
    else last.text += line;
  }
  return parts;
}
