/** The kickoff of a bead: the text with which an agent begins to work on it. Pure; the same input gives the same text. */
import { fenced } from '../../../context/fence.ts';
import { notesSection } from '../../../context/notes.ts';
import type { Check, TddSteps, TestingMode } from '../graph/bead.ts';
import type { BriefFile, BriefFiles } from './brief-files.ts';
import { beadRules, finishRules, mailRules, testingRules } from './brief-rules.ts';
import { type BeadTrouble, troubleSections } from './brief-trouble.ts';
import { type QuotedMessage, quoteMessage } from './mail-quote.ts';
import { contextFile } from './places.ts';
import { inlineCode, oneLine, plain } from './quote.ts';

export interface BriefedBead {
  id: string;
  title: string;
  type: string;
  body: string;
  files: readonly string[];
  verify: readonly Check[];
  testingMode: TestingMode;
  tddSteps?: TddSteps | null;
  decisionRefs: readonly string[];
  dependencies?: readonly string[];
}

/** The six inputs of a worker, and the name that it got. A single worker has a feature, and perhaps a hint. */
export interface WorkerInputs {
  mode: 'worker' | 'standalone';
  nickname: string | null;
  mailName: string | null;
  coordinator: string | null;
  thread: string | null;
  topic: string | null;
  hint: string | null;
  feature: string;
}

export interface BeadBriefInput extends BeadTrouble {
  bead: BriefedBead;
  inputs: WorkerInputs;
  files: BriefFiles;
  branch: string;
  /** Where Pulse will record the verification. */
  evidencePath: string;
  /** And in these places, which the bead declares. */
  alsoEvidence?: readonly string[];
  /** Patterns of test files: what a bead with tests first may change before it was seen to fail. */
  testGlobs?: readonly string[];
  /** The newest messages to the agent, oldest first. */
  mail?: readonly QuotedMessage[];
  /** A person's. */
  notes?: readonly string[];
  answer?: string | null;
  /** An agent without tools ends by its exit code and its final message. */
  isShellOnly?: boolean;
}

export function beadBrief(input: BeadBriefInput): string {
  const { bead, inputs, files, answer = null, notes = [], hasCompacted = false } = input;
  const agents = fileSection(files.agents);
  const context = fileSection(files.context);
  const own = beadSection(input);
  const sections = [
    // After a compaction the order of reading is part of the rule.
    ...(hasCompacted ? [compaction(input), agents, context, own] : [own]),
    ...troubleSections(input),
    answer === null ? null : `## Answer from the person\n\n${fenced(answer)}`,
    notesSection(notes, '##') || null,
    mailSection(input.mail ?? []),
    inputs.mode === 'worker' ? inputsSection(inputs) : standaloneSection(inputs),
    ...(hasCompacted ? [] : [agents, context]),
    fileSection(files.state),
    files.handoff && fileSection(files.handoff),
    decisionsSection(files),
    learningsSection(files),
    beadRules(bead),
    testingRules(input),
    inputs.mode === 'worker' ? mailRules(inputs) : null,
    finishRules(input),
  ];
  return `${sections.filter((section) => section !== null).join('\n\n')}\n`;
}

function beadSection({ bead, inputs, branch, evidencePath, alsoEvidence = [] }: BeadBriefInput): string {
  const checks = bead.verify.map(({ command, expect }) => {
    const expected = expect === undefined ? 'exit 0' : inlineCode(expect);
    return `${fenced(plain(command), 'sh')}\n\nExpected: ${expected}`;
  });
  return `# Bead ${oneLine(bead.id)}

Title: ${inlineCode(bead.title)}

${bead.body.trim() === '' ? 'It has no further description.' : fenced(plain(bead.body))}

- Type: ${inlineCode(bead.type)}
- Feature: ${inlineCode(inputs.feature)}
- Files in scope: ${list(bead.files)}
- Depends on: ${list(bead.dependencies ?? [])}
- Decisions: ${list(bead.decisionRefs)}
- testing_mode: ${bead.testingMode}
- Evidence, written by Pulse: ${list([evidencePath, ...alsoEvidence])}

You work on this one bead, on branch ${inlineCode(branch)}, in a separate worktree. It becomes one commit.

## How it is verified

Pulse runs these commands itself, exactly as they are written:

${checks.join('\n\n')}`;
}

function inputsSection(inputs: WorkerInputs): string {
  const { nickname, mailName, coordinator, thread, topic, hint, feature } = inputs;
  return `## Your place in the swarm

- Runtime nickname (\`PULSE_NICKNAME\`): ${shown(nickname)}
- Agent Mail name: ${shown(mailName)}
- Coordinator (\`PULSE_COORDINATOR\`): ${shown(coordinator)}
- Epic thread (\`PULSE_THREAD\`): ${shown(thread)}
- Epic topic (\`PULSE_TOPIC\`): ${shown(topic)}
- Startup hint (\`PULSE_HINT\`): ${shown(hint)}
- Feature (\`PULSE_FEATURE\`): ${shown(feature)}

Use the Agent Mail name in every call. The acknowledgement on the epic thread was sent, and this bead was claimed for you. A variable that is empty in your shell stands in the message \`[SWARM]\` on the epic topic (a hint may be none); where one of the others is missing there too, tell the coordinator and do not begin.`;
}

function standaloneSection({ feature, hint }: WorkerInputs): string {
  return `## Your place

You are the only worker: there is no coordinator and no mail.

- Feature (\`PULSE_FEATURE\`): ${shown(feature)}
- Startup hint (\`PULSE_HINT\`): ${shown(hint)}`;
}

function shown(value: string | null): string {
  return value === null || value === '' ? 'none' : inlineCode(value);
}

function fileSection({ path, content, note }: BriefFile): string {
  const head = `## File ${inlineCode(path)}`;
  if (content === null) return `${head}\n\n${note === null ? 'Absent.' : `Not shown: ${note}.`}`;
  const part = note === null ? '' : ` (${note})`;
  return `${head}\n\nPresent${part}.${content.trim() === '' ? ' It is empty.' : `\n\n${fenced(content)}`}`;
}

function decisionsSection({ decisions, context }: BriefFiles): string | null {
  if (decisions.length === 0) return null;
  const quoted = decisions.map(({ id, text }) => `${id}:\n\n${fenced(text)}`).join('\n\n');
  return `## Locked decisions

Quoted from ${inlineCode(context.path)}. Your work keeps each of them. Where one cannot be kept, stop and say so.

${quoted}`;
}

function learningsSection({ learnings }: BriefFiles): string | null {
  if (learnings.length === 0) return null;
  return `## Learnings of this bead\n\n${learnings.map((file) => `#${fileSection(file)}`).join('\n\n')}`;
}

function mailSection(mail: readonly QuotedMessage[]): string | null {
  if (mail.length === 0) return null;
  return `## New messages\n\n${mail.map(quoteMessage).join('\n\n')}`;
}

function compaction({ bead, inputs }: BeadBriefInput): string {
  const { id } = bead;
  return `# Stop: your context was compacted

What you knew of the rules, the decisions and your reservations is gone. Before any other action read these again, in this order:

1. \`AGENTS.md\`
2. ${inlineCode(contextFile(inputs.feature))}
3. Bead ${inlineCode(id)} (${inlineCode(`br show ${id}`)})

They are quoted below in the same order. Then look at what is changed in the worktree, and continue.`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.map(inlineCode).join(', ');
}
