import { formatTrust } from '../../domain/check-words.ts';
import { formatDuration } from '../../domain/durations.ts';
import { unresolvedLines } from '../../loops/workflow/unresolved.ts';
import type { CheckedEvidence, Verdict, VerifyReport } from '../../operations/verify.ts';
import type { Style } from '../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { onInterrupt } from '../follow/interrupts.ts';
import { openPulse } from '../open-pulse.ts';
import { namesSession, verifyByProofs } from './verify-proof.ts';

const MEANING: Record<Verdict, string> = {
  fresh: 'the evidence still holds',
  stale: 'the branch has changed since',
  false: 'the same tree, and the result is another',
};
const STILL_FAILS = 'the evidence still holds: it is of a failure, and it fails again';
const AS_BEFORE = 'fails as it did before the first pulse, and shows nothing new';
const AS_ACCEPTED =
  'fails, but shows nothing beyond what was there before the first pulse or was accepted since';
const COLORS = { fresh: 'green', stale: 'yellow', false: 'red' } as const;

export async function run(context: CommandContext): Promise<number> {
  return (await namesSession(context)) ? verifySession(context) : verifyByProofs(context);
}

async function verifySession(context: CommandContext): Promise<number> {
  const { input, output } = context;
  const stop = new AbortController();
  using _interrupts = onInterrupt((signal) => stop.abort(signal));
  await using pulse = await openPulse(context);
  const report = await pulse.verify(input.argument('ID')!, { signal: stop.signal });
  if (output.isJson) output.json(report);
  else {
    const { style } = output.stdout;
    for (const check of report.checks) output.data(checkLines(check, report, style).join('\n'));
    // A workflow's check may fail, as long as it shows nothing new.
    const isOfFailure = report.checks.some(({ again, news }) => news === undefined && !again.passed);
    const meaning = report.verdict === 'fresh' && isOfFailure ? STILL_FAILS : MEANING[report.verdict];
    const word = report.verdict === 'fresh' && report.trust ? ` (${formatTrust(report.trust)})` : '';
    output.data(`${style[COLORS[report.verdict]](report.verdict)}: ${meaning}${word}`);
    for (const line of unresolvedLines(report.unresolved))
      output.data(style.yellow(`accepted, not resolved: ${sanitizeLine(line)}`));
    output.data(style.dim(`commit ${report.commit.slice(0, 10)}  tree ${report.tree.slice(0, 10)}`));
  }
  if (stop.signal.aborted) return stop.signal.reason === 'SIGINT' ? 130 : 143;
  return report.verdict === 'fresh' ? 0 : 1;
}

function checkLines(
  { command, verdict, recorded, again, news }: CheckedEvidence,
  { unresolved }: VerifyReport,
  style: Style,
): string[] {
  const end = again.exit === null ? 'did not finish' : `exit ${again.exit}`;
  const was =
    recorded.exit === again.exit
      ? ''
      : `, was ${recorded.exit === null ? 'unfinished' : `exit ${recorded.exit}`}`;
  const head = `${style[COLORS[verdict]](verdict.padEnd(5))}  ${sanitizeLine(command)}  ${style.dim(`${end}${was}, ${formatDuration(again.durationMs)}`)}`;
  if (again.passed) return [head];
  if (news === null) return [head, style.dim(`       ${unresolved.length === 0 ? AS_BEFORE : AS_ACCEPTED}`)];
  const tail = sanitizeForTerminal(news ?? again.outputTail)
    .trimEnd()
    .split('\n')
    .slice(-15);
  return [head, ...tail.map((line) => style.dim(`       ${line}`))];
}
