import { formatTrust, trustOf } from '../../domain/check-words.ts';
import { unresolvedLines } from '../../loops/workflow/unresolved.ts';
import { merge } from '../../operations/after/definitions.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';
import { askingForTrust } from '../trusting.ts';

export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  await using pulse = await openPulse(context);
  const { sessionId, ...how } = await readInput(merge, context, {});
  const { session: before, unresolved } = await pulse.show(sessionId);
  const { session, merged, said } = await askingForTrust(context, before.project_path, () =>
    pulse.merge(before.id, how),
  );
  if (output.isJson) {
    const { base, sha, how: way } = merged ?? {};
    output.json({ session, merged: merged && { base, sha, how: way }, said });
    return 0;
  }
  const trust = trustOf(before);
  if (merged && !merged.wasThere && trust) output.talk(`What is merged is ${formatTrust(trust)}.`);
  if (merged && !merged.wasThere && unresolved.length > 0) {
    output.talk(output.stderr.style.yellow('note: this was not resolved, and is merged with the rest:'));
    for (const line of unresolvedLines(unresolved)) output.talk(`      ${sanitizeLine(line)}`);
  }
  output.data(sanitizeForTerminal(said));
  return 0;
}
