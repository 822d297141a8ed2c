/** What several commands about sessions share, beside their operations' own. */
import { show } from '../operations/session/definitions.ts';
import type { ArgumentSpec, OptionSpec } from './command-spec.ts';
import { describeCommand } from './operation-command.ts';

export const SESSION: ArgumentSpec = describeCommand(show).arguments![0]!;
export const DETACH: OptionSpec = {
  name: 'detach',
  help: 'Return at once; the session continues by itself.',
};
