import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import type { CommandContext } from '../command-spec.ts';
import { evidenceReport } from '../evidence-report.ts';
import { openPulse } from '../open-pulse.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, output, cwd } = context;
  await using pulse = await openPulse(context);
  const file = input.text('output');
  const format = input.text('format') ?? (file?.endsWith('.md') && !output.isJson ? 'md' : 'json');
  const content = await pulse.export(input.argument('ID')!);
  const text =
    format === 'md' ? evidenceReport(content) : `${JSON.stringify(content, null, output.isJson ? 0 : 2)}\n`;
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
