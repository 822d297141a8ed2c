/** The brief of a pulse's run: its scope, the plan around it, the rules. Never another pulse's messages. */
import { fenced } from '../../context/fence.ts';
import { notesSection } from '../../context/notes.ts';

export interface KickoffInput {
  title: string;
  approach: string | null;
  pulse: {
    id: string;
    title: string;
    description: string;
    expectedChanges: readonly string[];
    comments: string | null;
  };
  others: readonly { id: string; title: string; status: string; description: string | null }[];
  branch: string;
  run: number;
  checks: readonly string[];
  answer: string | null;
  notes?: readonly string[];
  /** How this pulse's run before ended; `null` for its first. */
  before: string | null;
}

export function buildKickoff(input: KickoffInput): string {
  const { title, approach, pulse, branch, run, checks, answer, notes = [], before } = input;
  const sections = [
    `# Pulse ${pulse.id}: ${pulse.title}

${fenced(pulse.description)}

This is one pulse of the workflow "${title}": one commit's worth of work, on branch \`${branch}\`, in a separate worktree. It is run ${run} of this pulse.`,
    pulse.expectedChanges.length === 0
      ? null
      : `## Expected changes\n\n${pulse.expectedChanges.map((line) => `- ${line}`).join('\n')}`,
    pulse.comments === null ? null : `## Said by a person, or of an earlier try\n\n${fenced(pulse.comments)}`,
    answer === null ? null : `## Answer from the person\n\n${fenced(answer)}`,
    notesSection(notes, '##') || null,
    before === null ? null : `## Before this run\n\n${before}`,
    approach === null ? null : `## The plan's approach\n\n${fenced(approach)}`,
    others(input),
    RULES,
    completion(checks),
  ];
  return `${sections.filter((section) => section !== null).join('\n\n')}\n`;
}

/** Of what another pulse is about. */
const MOST_OF_A_LINE = 300;

function others({ others: pulses }: KickoffInput): string | null {
  if (pulses.length === 0) return null;
  const lines = pulses.map(({ id, title, status, description }) => {
    const line = description?.split('\n')[0] ?? '';
    const said =
      line === ''
        ? ''
        : `: ${line.length > MOST_OF_A_LINE ? `${line.slice(0, MOST_OF_A_LINE).toWellFormed()} …` : line}`;
    return `- ${id} (${status}) ${title}${said}`;
  });
  return `## The other pulses\n\n${lines.join('\n')}`;
}

const RULES = `## Do

- Make only the changes that this pulse asks for.
- Read a file before you edit it.
- Follow the patterns and conventions that are there.
- Ask for an extension early if it takes long.
- Write clear commit messages in the imperative.

## Do not

- Do not go beyond the scope of this pulse.
- Do not leave TODOs or placeholders.
- Do not refactor what has nothing to do with it.
- Do not paste code into explanations; name file and line.
- Do not guess what a file holds.

A pulse is a promise. When it is marked done, the code is correct, complete and boring to review. If you would not merge it yourself with confidence, it is not done.`;

function completion(checks: readonly string[]): string {
  const run =
    checks.length === 0
      ? ''
      : `\n\nPulse then runs these checks itself; issues that were there before the first pulse are not held against you:\n\n${fenced(checks.join('\n'), 'sh')}`;
  return `## How to finish

Do not commit: Pulse does. When the work is done, call the tool \`pulse_done\` with \`summary\` (the commit message; its first line a Conventional Commit such as \`feat(auth): validate tokens\`, at most 100 characters) and \`filesChanged\` (every path you changed, added or deleted). In a shell: \`pulse tool pulse_done '{"summary":"…","filesChanged":["…"]}'\`. It answers ok, or with every reason why not; fix them and call it again. If it answers with a pending id, call \`pulse_done_result\`.

If the work needs another run, call \`request_extension\` with \`reason\`, \`completed\` and \`remaining\`, and stop. If only a person can help, end your message with \`<signal>BLOCKED: reason</signal>\`.${run}`;
}

/** What a preflight agent is told: it prepares, and changes nothing that is tracked. */
export function preflightBrief(checks: readonly string[]): string {
  const build =
    checks.length === 0
      ? 'Run the build, the linter and the tests once.'
      : `Run these checks once:\n\n${fenced(checks.join('\n'), 'sh')}`;
  return `# Preflight

Prepare this worktree so that work can begin: install dependencies from the lockfiles as they are, initialise submodules, build once. You have the tool \`shell\` (or your own), \`record_baseline\` and \`preflight_done\`; in a shell \`pulse tool NAME 'JSON'\` calls them.

You must NOT change a tracked file: only untracked artifacts such as installed dependencies and build output may appear. A changed tracked file makes preflight fail.

${build}

For every error or warning that is there already call \`record_baseline {issueType, source, pattern, filePath?, description?}\`, so that no later work is blamed for it. Then call \`preflight_done {summary, setupCommands, buildSuccess, baselinesRecorded}\` and stop.
`;
}

/** What the agent is told that drafts a plan. */
export function planBrief(goal: string, answer: string | null): string {
  const said = answer === null ? '' : `\n\n## Answer from the person\n\n${fenced(answer)}`;
  return `# Plan this

${fenced(goal)}${said}

Read the repository and cut the work into pulses: each one commit's worth, small enough to review in a few minutes, complete in itself, in an order in which every step builds and passes its tests. Change nothing now: your changes are thrown away.

Then call the tool \`propose_plan {plan}\` (in a shell: \`pulse tool propose_plan '{"plan": …}'\`) with

- \`title\`, and \`approach\`: how, in a few sentences;
- \`pulses\`: \`[{id, title, description, expectedChanges?, dependsOn?}]\`; an id is short and lower case such as \`parse-dates\`; a description says what must be true afterwards;
- \`verify\`, if the repository has checks: \`[{command, source: "Build" | "Lint" | "Test", scope?}]\`.

It answers ok, or with every fault of the plan. A person approves it before anything is done.
`;
}
