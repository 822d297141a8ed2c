/** What the agent is told that drafts an epic and its beads. */
import { fenced } from '../../../context/fence.ts';

export interface PlanBrief {
  goal: string;
  /** Of the beads that there are: what a draft may wait for. */
  known: readonly { id: string; title: string; status: string }[];
  answer: string | null;
  /** Why the run before brought no good draft. */
  faults: string | null;
}

const KNOWN_TOLD = 100;

export function planBrief({ goal, known, answer, faults }: PlanBrief): string {
  const sections = [
    `# Plan this as beads\n\n${fenced(goal)}`,
    answer === null ? null : `## Answer from the person\n\n${fenced(answer)}`,
    faults === null ? null : `## The run before brought no good draft\n\n${fenced(faults)}`,
    RULES,
    knownBeads(known),
  ];
  return `${sections.filter((section) => section !== null).join('\n\n')}\n`;
}

function knownBeads(known: PlanBrief['known']): string | null {
  if (known.length === 0) return null;
  const told = known.slice(0, KNOWN_TOLD).map(({ id, title, status }) => `${id} (${status}) ${title}`);
  const more = known.length > told.length ? [`… and ${known.length - told.length} more`] : [];
  return `## Beads that are there already\n\nTheir ids are taken; a bead may wait for one of them.\n\n${fenced([...told, ...more].join('\n'))}`;
}

const RULES = `Read the repository and cut the work into beads: small pieces that one worker finishes in one sitting, each with the files it may change and the commands that verify it. Several workers take them at the same time, so beads that do not wait for each other should not share files. Change nothing now: your changes are thrown away.

Then call the tool \`propose_beads {draft}\` (in a shell: \`pulse tool propose_beads '{"draft": …}'\`) with

- \`epic\`: \`{id, title, body?, feature?}\`: what all of it is for. An id is short and lower case, such as \`dates\`; \`feature\` is the name of a folder;
- \`beads\`: \`[{id, title, body, files, verify, dependencies?, type?, priority?, testing_mode?, tdd_steps?, decision_refs?, learning_refs?, labels?, changesChecks?}]\`:
  - \`body\`: what must be true afterwards, in Markdown, enough for a worker who knows nothing else;
  - \`files\`: paths or patterns such as \`src/dates/**\`: only these may be changed, new files too;
  - \`verify\`: \`[{command, expect?}]\`, commands that fail before the work and pass after it. \`expect\` is a text in the output, \`/a pattern/\` or \`exit N\`;
  - \`dependencies\`: ids of beads that must be closed first;
  - \`type\`: task, bug, feature, docs, chore or test; \`priority\`: 0 (most urgent) to 4;
  - \`testing_mode\`: \`tdd-required\` with \`tdd_steps {red, green, expect?}\` where a test comes first, else \`standard\`;
  - \`decision_refs\`: decisions such as D1 of \`history/<feature>/CONTEXT.md\`; \`learning_refs\`: files worth reading;
  - \`changesChecks: true\` if its work is to change what defines the checks.

It answers ok, or with every fault of the draft; the last good one counts. A person reads it, the commands above all, before anything is done.`;
