import { formatTrust } from '../../domain/check-words.ts';
import { showChecks } from '../../operations/session/definitions.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';

/** How the newest claim was judged, and the diff of the checks alone. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  await using pulse = await openPulse(context);
  const { sessionId } = await readInput(showChecks, context, {});
  const { session, judgement, verifications, diff } = await pulse.showChecks(sessionId);
  if (output.isJson) {
    output.json({ session, judgement, verifications, diff });
    return 0;
  }
  const { style } = output.stdout;
  const lines = [
    `${style.bold(judgement.verdict)} · iteration ${judgement.iteration} · ${formatTrust(judgement.trust)}`,
    ...judgement.reasons.map((reason) => `  ${sanitizeLine(reason)}`),
    ...judgement.declared.map(({ path, reason }) => `  the agent: ${sanitizeLine(`${path}: ${reason}`)}`),
    ...judgement.flaky.map((name) => `  flaky: ${sanitizeLine(name)}`),
    ...judgement.notes.map(({ path, line, what, text }) =>
      style.dim(`  note: ${sanitizeLine(`${path}:${line} ${what}: ${text}`)}`),
    ),
    ...verifications.map(({ command, passed, tests }) => {
      const counted = tests ? ` · ${tests.ran} ran, ${tests.failed} failed, ${tests.skipped} skipped` : '';
      return `  ${passed ? '✓' : '✗'} ${sanitizeLine(command)}${counted}`;
    }),
    ...(judgement.replay
      ? [`  the old checks on it: ${judgement.replay.passed ? 'hold' : 'do not hold'}`]
      : []),
  ];
  output.data(lines.join('\n'));
  if (diff) output.data(sanitizeForTerminal(diff.trimEnd()));
  return 0;
}
