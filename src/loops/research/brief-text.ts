/** The brief of an experiment's run: review, order of ideas, what not to do (docs/protocol/research.md, Review). */
import { fenced } from '../../context/fence.ts';
import { notesSection } from '../../context/notes.ts';

export interface ResearchBriefInput {
  goal: string;
  number: number;
  /** `null`: no end. */
  iterations: number | null;
  metric: {
    name: string;
    direction: string;
    command: string;
    best: string;
    baseline: string;
    target: string | null;
  };
  scope: { inScope: readonly string[]; readOnly: readonly string[]; outOfScope: readonly string[] };
  /** The newest rows of the log, header included. */
  results: string;
  log: string;
  files: readonly { path: string; text: string }[];
  moreFiles: readonly string[];
  strategy: readonly { text: string; iterations: readonly number[] }[];
  priorities: readonly string[];
  antiPatterns: readonly string[];
  /** Few experiments are left. */
  onlyVariants: boolean;
  hasKept: boolean;
  /** The steps to take when nothing has helped for long; the last is the approach to try now. */
  stuck: readonly string[] | null;
  /** What the last experiment's crash asks for. */
  advice: string | null;
  /** Newest first: experiments that broke the guard, and what it printed. */
  guarded: readonly { number: number; description: string; output: string }[];
  /** The experiment broke and is continued; this is what was printed. */
  crash: { description: string; output: string } | null;
  /** It is continued for another reason: this idea was begun, and its changes are in the tree. */
  begun: string | null;
  /** The attempt before this one broke off; what became of what it left. */
  interruption: string | null;
  answer: string | null;
  notes?: readonly string[];
}

export function buildResearchBrief(input: ResearchBriefInput): string {
  const { number, iterations, crash, begun, interruption, answer, notes = [] } = input;
  const goesOn = crash !== null || begun !== null;
  const sections = [
    `# Goal

${fenced(input.goal)}

This is experiment ${number}${iterations === null ? '' : ` of ${iterations}`} of a research loop run by Pulse. You have one idea, make one small change, and stop. Pulse commits it, measures it itself and decides by statistics; what does not help is taken back.`,
    interruption,
    crash === null ? null : fixing(crash),
    begun === null ? null : goingOn(begun),
    answer === null ? null : `# Answer from the person\n\n${fenced(answer)}`,
    notesSection(notes, '#') || null,
    metric(input),
    scope(input),
    `# Results so far\n\n${fenced(input.results)}\n\nRecent commits:\n\n${fenced(input.log)}`,
    guarded(input),
    strategy(input),
    goesOn ? null : ideas(input),
    files(input),
    ending(goesOn),
  ];
  return `${sections.filter((section) => section !== null).join('\n\n')}\n`;
}

function fixing({ description, output }: NonNullable<ResearchBriefInput['crash']>): string {
  return `# Mend this experiment

The change "${description}" is in the tree, but the measurement broke. Mend it without changing the idea.

${fenced(output)}`;
}

function goingOn(description: string): string {
  return `# Go on with this experiment

The change "${description}" was begun by a run that did not come to its end. What it did is in the tree: finish that idea, and nothing else.`;
}

function metric({
  metric: { name, direction, command, best, baseline, target },
}: ResearchBriefInput): string {
  const wanted = target === null ? '' : ` The target is ${target}.`;
  return `# Metric

\`${name}\`, ${direction} is better. The best so far is ${best}, the baseline was ${baseline}.${wanted} Pulse runs this in a fresh checkout of your commit:

${fenced(command, 'sh')}`;
}

function scope({ scope: { inScope, readOnly, outOfScope } }: ResearchBriefInput): string {
  const list = (patterns: readonly string[]): string =>
    patterns.map((pattern) => `\`${pattern}\``).join(', ');
  return [
    `# Scope\n\nChange only ${list(inScope)}.`,
    ...(readOnly.length > 0 ? [`Never change ${list(readOnly)}.`] : []),
    ...(outOfScope.length > 0 ? [`Out of scope: ${list(outOfScope)}.`] : []),
    'What measures you is pinned: a change to it, to anything out of scope, or state left outside the commit makes the experiment void.',
  ].join(' ');
}

function guarded({ guarded: broken }: ResearchBriefInput): string | null {
  if (broken.length === 0) return null;
  const told = broken.map(
    ({ number, description, output }) => `Experiment ${number}, "${description}":\n\n${fenced(output)}`,
  );
  return `# What the guard caught\n\nThese changes broke what must keep working, so their gains did not count:\n\n${told.join('\n\n')}`;
}

function strategy({ strategy: lines }: ResearchBriefInput): string | null {
  if (lines.length === 0) return null;
  const marked = lines.map(({ text, iterations }) =>
    iterations.length === 0 ? `- [ ] ${text}` : `- [x] ${text} (tried in ${iterations.join(', ')})`,
  );
  return `# Strategy of the plan\n\n${marked.join('\n')}`;
}

function ideas(input: ResearchBriefInput): string {
  const { priorities, antiPatterns, onlyVariants, hasKept, stuck, advice } = input;
  const order = priorities.map((text, index) => `${index + 1}. ${text}`);
  const few = 'Only few experiments are left: try variants of changes that were kept';
  const lines = [
    '# Choose the next change, in this order',
    '',
    ...(onlyVariants && !hasKept ? [`${few}. None was yet, so choose by this order:`, ''] : []),
    ...(onlyVariants && hasKept ? [`${few}, nothing else.`] : order),
    '',
    ...antiPatterns.map((text) => `- ${text}`),
  ];
  if (advice !== null) lines.push('', advice);
  if (stuck !== null) {
    lines.push(
      '',
      'Nothing has helped for a while. Do this, in order:',
      '',
      ...stuck.map((text) => `- ${text}`),
    );
  }
  return lines.join('\n');
}

function files({ files: shown, moreFiles }: ResearchBriefInput): string | null {
  if (shown.length === 0 && moreFiles.length === 0) return null;
  const blocks = shown.map(({ path, text }) => `## ${path}\n\n${fenced(text)}`);
  const rest =
    moreFiles.length === 0 ? [] : [`Too large to show here; read them yourself: ${moreFiles.join(', ')}`];
  return ['# Files in scope', ...blocks, ...rest].join('\n\n');
}

function ending(goesOn: boolean): string {
  const describe = goesOn
    ? ''
    : 'Say what you will try BEFORE you change anything, in one sentence: the tool `experiment_describe {description}`, or in a shell `pulse tool experiment_describe \'{"description":"…"}\'`. It tells you if that idea was discarded before; then choose another. Without the call the first line of your final message is the description. ';
  return `# How to end this run

${describe}Do not commit and do not measure for long: Pulse does both. If you find something surprising, call \`alert {text}\`. If only a person can help, end with \`<signal>BLOCKED: reason</signal>\`; otherwise just stop.`;
}
