import { loadConfig } from '../../config.ts';
import { PulseError } from '../../domain/errors.ts';
import { openRepository } from '../../git/repository.ts';
import { resolveHome } from '../../home.ts';
import { sanitizeForTerminal } from '../../terminal/text.ts';
import { askingSettings, recordTrust, trustOf } from '../../trust.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';
import { createCliGit } from '../repository-here.ts';
import { canAsk, isAgreed, trustLines } from '../trusting.ts';

export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const home = resolveHome(environment);
  const project = await openRepository(createCliGit(environment), input.text('path') ?? cwd);
  const { project: file } = await loadConfig(project.root, environment);
  if (!file) {
    throw new PulseError('not_found', `${project.root} has no config of its own.`, {
      hint: 'There is nothing to trust. pulse init writes one.',
    });
  }
  const before = await trustOf(home, project, file);
  const { path, sha256 } = file;
  const told = (trust: string): number => {
    if (output.isJson) output.json({ path, sha256, trust, settings: askingSettings(file) });
    return 0;
  };
  if (before !== 'untrusted') {
    if (!output.isJson) output.data(`${sanitizeForTerminal(path)}: ${TOLD[before]}`);
    return told(before);
  }
  if (!input.has('yes')) {
    if (!canAsk(output)) {
      for (const line of trustLines(file)) output.talk(line);
      throw new PulseError('untrusted_config', `${path} is not trusted, and there is nobody to ask.`, {
        hint: 'Read the file; pulse trust --yes trusts what it says now.',
        data: { path, sha256, settings: askingSettings(file) },
      });
    }
    if (!(await isAgreed(output, file))) {
      throw new PulseError('untrusted_config', `${path} stays untrusted.`);
    }
  }
  await recordTrust(home, project, { file, actor: actor() });
  if (!output.isJson) {
    output.data(`Trusted ${sanitizeForTerminal(path)}`);
    for (const line of trustLines(file)) output.talk(`  ${line}`);
    output.talk('A change of the file will be asked for again.');
  }
  return told('trusted');
}

const TOLD = {
  trusted: 'trusted already',
  unneeded: 'sets limits alone; those need no trust',
} as const;
