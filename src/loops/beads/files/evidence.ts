/** The record of a bead's verification, `history/<feature>/verification/<bead-id>.md`. Written by Pulse alone. */
import { fenced } from '../../../context/fence.ts';
import type { TestingMode } from '../graph/bead.ts';
import { inlineCode, oneLine, plain, tail } from './quote.ts';

export interface CommandEvidence {
  command: string;
  /** `null`: it was ended by a signal, or could not be started. */
  exit: number | null;
  /** As the bead says it; `null`: exit 0. */
  expected: string | null;
  /** Its output. */
  observed: string;
  hasPassed: boolean;
  /** Files that it wrote or that show its result. */
  artifacts?: readonly string[];
}

export interface Evidence {
  bead: { id: string; title: string };
  feature: string;
  testingMode: TestingMode;
  /** ISO 8601. */
  at: string;
  commands: readonly CommandEvidence[];
  /** Of a bead with tests first: `red` was run before the work, `green` after it. */
  tdd?: { red: CommandEvidence; green: CommandEvidence } | null;
}

/** By that it is known again. */
export const EVIDENCE_BEGINS = '# Verification of ';

/** Of an output. What is longer loses its beginning. */
const MOST_OUTPUT = 8_000;

/** The same input gives the same text. The caller takes secrets out of outputs first. */
export function evidenceText(evidence: Evidence): string {
  const { bead, feature, testingMode, at, commands, tdd } = evidence;
  const all = [...(tdd ? [tdd.red, tdd.green] : []), ...commands];
  const failed = all.filter(({ hasPassed }) => !hasPassed).length;
  const sections = [
    `${EVIDENCE_BEGINS}${oneLine(bead.id)}

- Bead: ${inlineCode(bead.id)} ${inlineCode(bead.title)}
- Feature: ${inlineCode(feature)}
- testing_mode: ${testingMode}
- Time: ${oneLine(at)}
- Result: ${failed === 0 ? 'passed' : `failed (${failed} of ${all.length})`}`,
    ...(tdd
      ? [
          section('TDD red: the failure seen before the work', tdd.red, 'failed as it should'),
          section('TDD green: the pass seen after the work', tdd.green, 'passed'),
        ]
      : []),
    ...commands.map((command, index) => section(`Command ${index + 1}`, command, 'passed')),
  ];
  return `${sections.join('\n\n')}\n`;
}

function section(title: string, evidence: CommandEvidence, good: string): string {
  const { command, exit, expected, observed, hasPassed, artifacts = [] } = evidence;
  const output = tail(plain(observed).trimEnd(), MOST_OUTPUT);
  return `## ${title}

Command:

${fenced(plain(command), 'sh')}

- Exit: ${exit ?? 'none'}
- Expected: ${expected === null ? 'exit 0' : inlineCode(expected)}
- Result: ${hasPassed ? good : 'not as expected'}
- Artifacts: ${artifacts.length === 0 ? 'none' : artifacts.map(inlineCode).join(', ')}

Observed:

${output === '' ? '(no output)' : fenced(output)}`;
}
