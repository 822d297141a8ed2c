import { displayWidth, wrap } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { type Finding, findings } from '../machine-findings.ts';

const MARKS = { ok: '✓', warn: '!', bad: '✗', absent: '·' } as const;
const COLORS = { ok: 'green', warn: 'yellow', bad: 'red', absent: 'dim' } as const;

const MOST_LINES = 20;
/** The mark, and the subject in its column. */
const INDENT = 15;

export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const found: Finding[] = [];
  const { style } = output.stdout;
  for await (const finding of findings({
    environment,
    cwd,
    collects: input.has('gc'),
    verify: input.texts('verify') ?? [],
  })) {
    found.push(finding);
    if (output.isJson) continue;
    const { level, subject, text, hint } = finding;
    const [first = '', ...more] = inColumn(text, output);
    output.data(`${style[COLORS[level]](MARKS[level])} ${subject.padEnd(12)} ${first}`);
    for (const line of more) output.data(`${' '.repeat(INDENT)}${line}`);
    for (const line of hint ? inColumn(hint, output) : [])
      output.data(style.dim(`${' '.repeat(INDENT)}${line}`));
  }
  if (output.isJson) output.json({ findings: found });
  return found.some(({ level }) => level === 'bad') ? 1 : 0;
}

/** On a terminal broken where words end; in a pipe a finding stays one line. */
function inColumn(text: string, { stdout }: CommandContext['output']): string[] {
  const room = Math.max(20, stdout.columns() - INDENT - 1);
  // A path or an address is of use only whole.
  const isWhole = text.split(' ').some((word) => displayWidth(word) > room);
  return stdout.isTerminal && !isWhole ? wrap(text, room, MOST_LINES) : [text];
}
