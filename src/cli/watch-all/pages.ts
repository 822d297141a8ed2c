/** The long texts of the board: what a session changed, and why its result may be believed. */
import { formatTrust } from '../../domain/check-words.ts';
import { formatDuration } from '../../domain/durations.ts';
import { diffStat, unifiedDiff } from '../../git/diff.ts';
import type { Pulse } from '../../pulse.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../terminal/text.ts';
import { localTime } from '../../terminal/time.ts';
import { createCliGit } from '../repository-here.ts';

/** More than anybody reads at a terminal. */
const MOST_BYTES = 1024 * 1024;

/** All of it, from the session's base to where its work stands: first the files, then the patch. */
export async function changeLines(
  pulse: Pulse,
  id: string,
  environment: NodeJS.ProcessEnv,
): Promise<string[]> {
  const { session, head } = await pulse.show(id);
  const range = { root: session.project_path, from: session.base_sha, to: head ?? session.base_sha };
  if (range.from === range.to) return ['It has changed nothing so far.'];
  const git = createCliGit(environment);
  const { files, added, removed } = await diffStat(git, range);
  const { text, truncated } = await unifiedDiff(git, { ...range, maxBytes: MOST_BYTES });
  const rest = truncated ? ['', `The rest is left out: git diff ${range.from}..${session.branch_name}`] : [];
  return [
    `${files.length} ${files.length === 1 ? 'file' : 'files'}, +${added} -${removed} since ${range.from.slice(0, 7)}`,
    ...files.map(
      (file) => `  ${sanitizeLine(file.path)}  +${file.added ?? 'binary'} -${file.removed ?? 'binary'}`,
    ),
    '',
    ...linesOf(text),
    ...rest,
  ];
}

/** The newest claim first: what the referee said, and what Pulse itself ran. */
export async function evidenceLines(pulse: Pulse, id: string): Promise<string[]> {
  const { trust, verifications, judgements } = await pulse.showEvidence(id);
  if (verifications.length === 0 && judgements.length === 0)
    return ['Nothing was verified so far.', ...(trust ? [`Its result is ${formatTrust(trust)}.`] : [])];
  const claims = judgements
    .toReversed()
    .flatMap(({ iteration, verdict, reasons, decidedBy }) => [
      `iteration ${iteration}: ${verdict}${decidedBy ? ` by ${sanitizeLine(decidedBy)}` : ''}`,
      ...reasons.map((reason) => `    ${sanitizeLine(reason)}`),
    ]);
  const runs = verifications
    .toReversed()
    .flatMap(({ iteration, command, exit, passed, durationMs, at, tree, outputTail }) => [
      `${passed ? '✓' : '✗'} ${sanitizeLine(command)}  exit ${exit ?? 'none'}  ${formatDuration(durationMs)}`,
      `    iteration ${iteration}, tree ${tree.slice(0, 7)}, ${localTime(at)}`,
      ...(passed ? [] : linesOf(outputTail).map((line) => `    ${line}`)),
    ]);
  return [...(trust ? [`The result is ${formatTrust(trust)}.`, ''] : []), ...claims, '', ...runs];
}

function linesOf(text: string): string[] {
  return sanitizeForTerminal(text)
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll('\t', '    '));
}
