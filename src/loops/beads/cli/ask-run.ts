/** `pulse bead next`, `list` and `show` inside a worker's run: the run's own endpoint answers, not the state directory. */
import type { CommandContext } from '../../../cli/command-spec.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { NextView } from '../operations/read.ts';
import type { BeadView } from '../operations/view-schema.ts';
import { showOne } from './action.ts';
import type { LookAction } from './look.ts';

const NO_SUCH_TOOL = 404;

/** Resolves to the exit code; `null`: this run is no worker's, so that nobody here can answer. */
export async function askRun(context: CommandContext, action: LookAction): Promise<number | null> {
  const { environment, input, output } = context;
  const { PULSE_TOOLS_URL: url, PULSE_TOOLS_TOKEN: token } = environment;
  const word = input.argument('WHAT');
  const options = ['epic', 'status'].flatMap((name) => {
    const value = input.text(name);
    return value === undefined ? [] : [`--${name}=${value}`];
  });
  const args = [action, ...(word === undefined ? [] : [word]), ...options];
  if (input.has('why')) args.push('--why');
  const response = await fetch(`${url}/tools/bead_graph`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ program: 'pulse', args }),
  }).catch((cause: Error) => {
    throw new PulseError('tool_failed', `The run's tools cannot be reached: ${cause.message}`, { cause });
  });
  if (response.status === NO_SUCH_TOOL) return null;
  const reply = (await response.json()) as { ok: boolean; output: { stdout: string; stderr: string } };
  if (!reply.ok)
    throw new PulseError('invalid_transition', 'The run does not answer that.', {
      hint: String(reply.output?.stderr ?? reply.output),
    });
  const told = JSON.parse(reply.output.stdout) as { bead: BeadView; beads: BeadView[] } & NextView;
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
