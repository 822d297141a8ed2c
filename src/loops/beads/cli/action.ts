/** What the actions of `pulse bead` have in common. */
import type { CommandContext } from '../../../cli/command-spec.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { NamedProject } from '../../../operations/named-project.ts';
import type { BeadChanging } from '../operations/change.ts';
import type { BeadView } from '../operations/view-schema.ts';

export interface ActionCall {
  beads: BeadChanging;
  /** The one in whose repository one stands, or that of `--path`. */
  project: NamedProject;
  context: CommandContext;
}

export type Action = (call: ActionCall) => Promise<void>;

/** The word after the action. Throws `usage`. */
export function word({ input }: CommandContext): string {
  const given = input.argument('WHAT');
  if (given !== undefined) return given;
  const action = input.argument('ACTION');
  const what =
    action === 'import'
      ? 'a file'
      : action === 'plan'
        ? 'a goal'
        : action === 'draft'
          ? 'a session'
          : 'the id of a bead';
  throw new PulseError('usage', `pulse bead ${action} needs ${what}.`, { hint: 'pulse help bead' });
}

export function refuseWord({ input }: CommandContext): void {
  const given = input.argument('WHAT');
  if (given === undefined) return;
  throw new PulseError(
    'usage',
    `pulse bead ${input.argument('ACTION')} does not know what to do with "${given.slice(0, 100)}".`,
    { hint: 'Put a text of several words in quotation marks.' },
  );
}

export async function showOne({ output }: CommandContext, { bead }: { bead: BeadView }): Promise<void> {
  if (output.isJson) {
    output.json({ bead });
    return;
  }
  const { beadLines } = await import('./bead-lines.ts');
  for (const line of beadLines(bead, output.stdout)) output.data(line);
}
