import type { Input } from '../../../cli/parser.ts';
import { PulseError } from '../../../domain/errors.ts';

/** The epic that `pulse swarm start` is about: `--epic E`, or the word after `start`. */
export function readEpic(input: Input): string {
  const [word, option] = [input.argument('TARGET'), input.text('epic')];
  const epic = option ?? word;
  if (epic !== undefined && (word ?? epic) === epic) return epic;
  const message =
    epic === undefined ? 'Name the epic: --epic E.' : `Two epics were named: ${word} and ${option}.`;
  throw new PulseError('usage', message, { hint: 'pulse help swarm shows how it is used.' });
}
