import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import type { SessionExport } from '../../operations/export.ts';
import type { Pulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';
import { openPulse } from '../open-pulse.ts';
import { reportText } from '../report-text.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, output, cwd } = context;
  await using pulse = await openPulse(context);
  const file = input.text('output');
  const [, ending] = /\.(md|html)$/.exec(file ?? '') ?? [];
  const format = input.text('format') ?? (output.isJson ? 'json' : (ending ?? 'json'));
  const content = await pulse.export(input.argument('ID')!);
  const text = await writeAs(format, { content, pulse, context });
  if (file === undefined) {
    output.data(text.trimEnd());
    return 0;
  }
  await writeFile(resolve(cwd, file), text).catch((cause: Error) => {
    throw new PulseError('invalid_input', `${file} cannot be written: ${cause.message}`, { cause });
  });
  output.talk(`Wrote ${file}`);
  return 0;
}

async function writeAs(
  format: string,
  { content, pulse, context }: { content: SessionExport; pulse: Pulse; context: CommandContext },
): Promise<string> {
  const { output, environment } = context;
  if (format === 'md' || format === 'html') return reportText(format, content, { pulse, environment });
  return `${JSON.stringify(content, null, output.isJson ? 0 : 2)}\n`;
}
