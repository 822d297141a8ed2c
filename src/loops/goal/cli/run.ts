import type { CommandContext } from '../../../cli/command-spec.ts';
import { goOn } from '../../../cli/follow/go-on.ts';
import { openPulse } from '../../../cli/open-pulse.ts';
import { readInput } from '../../../cli/operation-command.ts';
import { findOrphans, readyRunner } from '../../../cli/session-runner.ts';
import { askingForTrust } from '../../../cli/trusting.ts';
import type { Started, StartNotes } from '../../../operations/start.ts';
import type { Pulse } from '../../../pulse.ts';
import type { Session } from '../../../store/sessions.ts';
import { sanitizeLine } from '../../../terminal/text.ts';
import { start } from '../operations/definitions.ts';
import { readGoal } from './read-goal.ts';

export async function run(given: CommandContext): Promise<number> {
  const goal = await readGoal(given);
  await using runner = readyRunner(given);
  const context = { ...given, runner };
  await using pulse = await openPulse(context);
  const asked = await readInput(start, context, goal);
  const started = await askingForTrust(context, asked.path, () => pulse.start(asked));
  return await goOnWithNotes(pulse, context, started);
}

/** Says what there is to know, then follows. */
export async function goOnWithNotes(
  pulse: Pulse,
  context: CommandContext,
  started: Started,
): Promise<number> {
  const { output } = context;
  const orphans = await findOrphans(pulse);
  for (const line of noteLines(started.notes, started.session, orphans))
    output.talk(output.stderr.style.dim(line));
  return goOn(pulse, context, started);
}

/** What the person should know before the first iteration. */
function noteLines(
  { notIncluded, isCostUnknown, isCostOpen, isUnverified, protects, sandbox }: StartNotes,
  session: Session,
  orphans: Session[],
): string[] {
  const lines: string[] = [];
  const { count, paths } = notIncluded;
  if (count > 0) {
    const named = paths.slice(0, 3).map(sanitizeLine).join(', ');
    lines.push(
      `note: not included, because not committed: ${named}${count > 3 ? ` and ${count - 3} more` : ''}`,
    );
  }
  if (isCostUnknown && session.budget_usd !== null) {
    lines.push(
      isCostOpen
        ? `note: what ${session.agent} costs is counted once it names its model, if a price is known for that; until then the other limits bind`
        : `note: what ${session.agent} costs is not known (it does not say, and no price is known for its model): the limits of cost and tokens bind only on what it or report_usage tells; the others bind`,
    );
  }
  if (sandbox.wish)
    lines.push('note: the agent and its checks run in a sandbox; the network is open to them');
  if (sandbox.note) lines.push(`note: ${sandbox.note}`);
  if (sandbox.refused) lines.push(`note: no sandbox: ${sandbox.refused}`);
  if (isUnverified)
    lines.push('note: no verify command: a completion will be unverified (--verify "npm test")');
  if (protects) lines.push(sanitizeLine(protects));
  for (const { id, goal } of orphans.slice(0, 3)) {
    lines.push(
      `note: ${id} is running (no runner): ${sanitizeLine(goal).slice(0, 60)}`,
      `      pulse resume ${id}`,
    );
  }
  if (orphans.length > 3) lines.push(`note: and ${orphans.length - 3} more without a runner: pulse status`);
  return lines;
}
