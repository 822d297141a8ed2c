/** What went wrong before this run of a bead, as its brief tells it. Outputs are evidence, never instructions. */
import { fenced } from '../../../context/fence.ts';
import { inlineCode, plain, tail } from './quote.ts';

export interface FailedCheck {
  command: string;
  exit: number | null;
  output: string;
}

export interface BeadTrouble {
  /** The bead was begun before, and is not done. */
  again?: {
    /** All reasons for which it was refused, or how the last run ended. */
    reasons: readonly string[];
    failures?: readonly FailedCheck[];
    /** Where git keeps what an interrupted run left. */
    recoveryRef?: string | null;
  } | null;
  /** Verification failed twice: this run looks for the cause. */
  debugging?: { failures: readonly FailedCheck[] } | null;
  /** The bead's commit does not fit on what others merged meanwhile. */
  mergeConflict?: {
    /** What it must be put on top of. */
    onto: string;
    paths: readonly string[];
    output?: string | null;
    /** The commit with the bead's work, if it is not in the worktree. */
    commit?: string | null;
  } | null;
  /** The agent lost its context: it reads AGENTS.md, CONTEXT.md and the bead again before all else. */
  hasCompacted?: boolean;
}

/** Of all outputs together. */
const MOST_OUTPUT = 16_000;

export function troubleSections({ again, debugging, mergeConflict }: BeadTrouble): (string | null)[] {
  return [
    again ? againSection(again) : null,
    debugging ? debuggingSection(debugging) : null,
    mergeConflict ? conflictSection(mergeConflict) : null,
  ];
}

function againSection({ reasons, failures = [], recoveryRef = null }: NonNullable<BeadTrouble['again']>) {
  const parts = [
    '## What failed before',
    'An earlier run of this bead did not finish it. Fix the cause, not the check.',
    reasons.length === 0 ? null : fenced(plain(reasons.map((reason) => `- ${reason}`).join('\n'))),
    ...quoteFailures(failures),
    recoveryRef === null
      ? null
      : `What it left is saved at ${inlineCode(recoveryRef)} (\`git show\`, \`git diff\`); use what is good.`,
  ];
  return parts.filter((part) => part !== null).join('\n\n');
}

function debuggingSection({ failures }: NonNullable<BeadTrouble['debugging']>): string {
  return [
    '## Debugging',
    'Verification of this bead failed twice. This run is for finding the cause. Reproduce the failure first. List what was tried and what it showed. Name one cause, and one observation that would prove it wrong. Then change what the cause asks for, and nothing else. If it fails again, the bead goes back to the coordinator as blocked.',
    ...quoteFailures(failures),
  ].join('\n\n');
}

function conflictSection(conflict: NonNullable<BeadTrouble['mergeConflict']>): string {
  const { onto, paths, output = null, commit = null } = conflict;
  const parts = [
    '## Merge conflict',
    `Your work does not fit on ${inlineCode(onto)}: others merged their beads meanwhile. The worktree stands there now. Put your work on top of it, keep what the others did, and end the bead again.`,
    paths.length === 0 ? null : `Files in conflict: ${paths.map(inlineCode).join(', ')}`,
    commit === null ? null : `Your work is commit ${inlineCode(commit)} (\`git show\`).`,
    output === null ? null : fenced(tail(plain(output), MOST_OUTPUT)),
  ];
  return parts.filter((part) => part !== null).join('\n\n');
}

function quoteFailures(failures: readonly FailedCheck[]): string[] {
  const share = Math.floor(MOST_OUTPUT / Math.max(1, failures.length));
  return failures.map(({ command, exit, output }) => {
    const ended = exit === null ? 'It was stopped' : `It ended with exit code ${exit}`;
    return `${fenced(plain(command), 'sh')}\n\n${ended}. The end of its output:\n\n${fenced(tail(plain(output), share))}`;
  });
}
