/** The question whether a repository's own config may be believed, asked at the terminal. */
import type { ProjectSettings } from '../config.ts';
import { isPulseError } from '../domain/errors.ts';
import { resolveHome } from '../home.ts';
import { sanitizeForTerminal } from '../terminal/text.ts';
import { askingSettings, recordTrust } from '../trust.ts';
import { actor } from './actor.ts';
import type { CommandContext } from './command-spec.ts';
import { isConfirmed } from './confirm.ts';
import type { Output } from './output.ts';
import { openHere } from './repository-here.ts';

/**
 * Does `begin`; where it is refused for a config that nobody has trusted, and somebody is there to ask, shows what is
 * to be trusted, asks once and begins again. Trust is bound to the content that was shown: if the file has changed in
 * between, the second refusal stands.
 */
export async function askingForTrust<T>(
  context: CommandContext,
  directory: string,
  begin: () => Promise<T>,
): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    const { output, environment } = context;
    if (!isPulseError(error, 'untrusted_config') || !canAsk(output)) throw error;
    const project = await openHere(directory, environment);
    const file = error.data as unknown as ProjectSettings;
    if (!project || !(await isAgreed(output, file))) throw error;
    await recordTrust(resolveHome(environment), project, { file, actor: actor() });
    return begin();
  }
}

/** Whether somebody sits at both ends: a question that nobody reads would wait for ever. */
export function canAsk({ isJson, stderr }: Output): boolean {
  return !isJson && process.stdin.isTTY === true && stderr.stream.isTTY === true;
}

/** Shows the settings that would be trusted and waits for a word. Anything but yes is no. */
export async function isAgreed(output: Output, file: ProjectSettings): Promise<boolean> {
  output.talk(`${sanitizeForTerminal(file.path)} was written by the author of the repository. It would`);
  for (const line of trustLines(file)) output.talk(`  ${line}`);
  return isConfirmed('Trust what it says now?');
}

/** One line for each setting, safe for a terminal. */
export function trustLines(file: ProjectSettings): string[] {
  return askingSettings(file).map(
    (name) => `set ${name}: ${sanitizeForTerminal(JSON.stringify(file.settings[name]))}`,
  );
}
