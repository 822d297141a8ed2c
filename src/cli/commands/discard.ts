import { PulseError } from '../../domain/errors.ts';
import type { WouldGo } from '../../operations/after/discard.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { isConfirmed } from '../confirm.ts';
import { openPulse } from '../open-pulse.ts';
import { canAsk } from '../trusting.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, output } = context;
  await using pulse = await openPulse(context);
  const goes = await pulse.showDiscard(input.argument('ID')!);
  const { id } = goes.session;
  if (!output.isJson) for (const line of linesOf(goes)) output.talk(line);
  if (!input.has('yes')) {
    if (!canAsk(output)) {
      throw new PulseError('usage', `Nobody is here to ask whether ${id} should be discarded.`, {
        hint: `pulse discard ${id} --yes`,
      });
    }
    if (!(await isConfirmed('Discard it?'))) {
      output.talk('Nothing was changed.');
      return 0;
    }
  }
  const { session, kept, said } = await pulse.discard(id);
  if (output.isJson) output.json({ session, kept, said });
  else output.data(sanitizeForTerminal(said));
  return 0;
}

function linesOf({ session, refs, back, worktree }: WouldGo): string[] {
  const { id, goal, branch_name: branch, status } = session;
  const named = (ref: string): string => ref.replace(/^refs\/heads\//, 'branch ');
  const lines = refs.map(({ ref, sha }) =>
    back !== null && ref === `refs/heads/${branch}`
      ? `  ${named(ref)} goes back from ${sha.slice(0, 10)} to ${back.slice(0, 10)}`
      : `  ${named(ref)} (${sha.slice(0, 10)})`,
  );
  if (worktree !== null) lines.push(`  worktree ${worktree}`);
  return [
    `${id} (${status}): ${sanitizeLine(goal).slice(0, 100)}`,
    ...(lines.length === 0
      ? ['Nothing of it is left to go.']
      : ['This goes, and is kept for 30 days:', ...lines]),
    ...(session.pull_request === null ? [] : ['What was pushed for its pull request stays there.']),
  ];
}
