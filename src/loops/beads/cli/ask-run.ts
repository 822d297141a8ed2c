/** `pulse bead next`, `list` and `show` inside a worker's run: the run's own endpoint answers, not the state directory. */
import { askRunTool } from '../../../cli/ask-run.ts';
import type { CommandContext } from '../../../cli/command-spec.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { NextView } from '../operations/read.ts';
import type { BeadView } from '../operations/view-schema.ts';
import { showOne } from './action.ts';

/** Resolves to the exit code; `null`: this run is no worker's, so that nobody here can answer. */
export async function askRun(
  context: CommandContext,
  action: 'list' | 'show' | 'next',
): Promise<number | null> {
  const { environment, input, output } = context;
  const word = input.argument('WHAT');
  const options = ['epic', 'status'].flatMap((name) => {
    const value = input.text(name);
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  const args = [action, ...(word === undefined ? [] : [word]), ...options];
  if (input.has('why')) args.push('--why');
  const reply = await askRunTool(environment, 'bead_graph', { program: 'pulse', args });
  if (reply === null) return null;
  const said = reply.output as { stdout: string; stderr: string } | undefined;
  if (!reply.ok || !said)
    throw new PulseError('invalid_transition', 'The run does not answer that.', {
      hint: String(said?.stderr ?? reply.output),
    });
  const told = JSON.parse(said.stdout) as { bead: BeadView; beads: BeadView[] } & NextView;
  if (output.isJson) {
    output.json(told);
    return 0;
  }
  if (action === 'show') await showOne(context, told);
  else {
    const lines = await import('./bead-lines.ts');
    const shown =
      action === 'next' ? lines.nextLines(told, output.stdout) : lines.listLines(told.beads, output.stdout);
    for (const line of shown) output.data(line);
  }
  return 0;
}
