import type { CommandContext } from '../command-spec.ts';
import { type Finding, findings } from '../machine-findings.ts';

const MARKS = { ok: '✓', warn: '!', bad: '✗', absent: '·' } as const;
const COLORS = { ok: 'green', warn: 'yellow', bad: 'red', absent: 'dim' } as const;

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
    output.data(`${style[COLORS[level]](MARKS[level])} ${subject.padEnd(12)} ${text}`);
    if (hint) output.data(style.dim(`  ${' '.repeat(12)} ${hint}`));
  }
  if (output.isJson) output.json({ findings: found });
  return found.some(({ level }) => level === 'bad') ? 1 : 0;
}
