/** `last`, where a session is named: the newest of the project one stands in. */
import { PulseError } from '../domain/errors.ts';
import { openReader } from '../reader.ts';
import type { CommandContext, CommandSpec } from './command-spec.ts';
import type { Input } from './parser.ts';
import { openHere } from './repository-here.ts';

const LAST = 'last';

/** The input with the session's id in the place of `last`; as it was where nothing is called so. */
export async function withLastSession(
  command: CommandSpec,
  context: Pick<CommandContext, 'input' | 'environment' | 'cwd'>,
): Promise<Input> {
  const { input } = context;
  const named = (command.arguments ?? []).find(
    ({ name, isSession }) => input.argument(name) === LAST && isSession?.(input),
  );
  if (!named) return input;
  const id = await newestHere(context);
  return { ...input, argument: (name) => (name === named.name ? id : input.argument(name)) };
}

async function newestHere({
  environment,
  cwd,
}: Pick<CommandContext, 'environment' | 'cwd'>): Promise<string> {
  const repository = await openHere(cwd, environment);
  if (!repository) {
    throw new PulseError(
      'not_found',
      '`last` is the newest session of a project, and here is no repository.',
      {
        hint: 'Go to the project, or name the session; pulse list shows them.',
      },
    );
  }
  await using reader = await openReader({ environment });
  const id = await reader.newest(repository.projectKey);
  if (id !== null) return id;
  throw new PulseError('not_found', `${repository.root} has no session yet.`, {
    hint: 'pulse start "…" begins one; pulse list shows those of other projects.',
  });
}
