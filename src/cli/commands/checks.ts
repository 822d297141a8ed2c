import { formatTrust } from '../../domain/check-words.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { ChangedChecks } from '../../operations/decide-checks.ts';
import { showChecks } from '../../operations/session/definitions.ts';
import type { StoredVerification } from '../../store/verifications.ts';
import type { Style } from '../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine, wrap } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { countsText } from '../follow/judgement-told.ts';
import { openPulse } from '../open-pulse.ts';
import { readInput } from '../operation-command.ts';
import type { Output } from '../output.ts';

/** How the newest claim was judged, and the diff of the checks alone. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  await using pulse = await openPulse(context);
  const { sessionId } = await readInput(showChecks, context, {});
  const shown = await pulse.showChecks(sessionId);
  if (output.isJson) {
    output.json(shown);
    return 0;
  }
  const { style, isTerminal, columns } = output.stdout;
  const room = (isTerminal ? columns() : 200) - 1;
  output.data(checkLines(shown, style, room).join('\n'));
  if (shown.diff) output.data(`\n${diffText(shown.diff, style)}`);
  printNext(shown, output);
  return 0;
}

const VERDICTS = {
  accepted: { mark: '✓', color: 'green', text: 'accepted' },
  rejected: { mark: '✗', color: 'red', text: 'not accepted' },
  ask: { mark: '■', color: 'yellow', text: 'you decide: the checks were changed' },
} as const;

/** No reason fills more of the screen. */
const REASON_LINES = 8;

function checkLines(
  { session, judgement, verifications }: ChangedChecks,
  style: Style,
  room: number,
): string[] {
  const { verdict, trust, iteration, decidedBy, reasons, replay, flaky } = judgement;
  const { mark, color, text } = VERDICTS[verdict];
  const head = [
    text,
    ...(verdict === 'accepted' ? [formatTrust(trust)] : []),
    ...(decidedBy === null ? [] : [`by ${sanitizeLine(decidedBy)}`]),
  ].join(' · ');
  const indented = (line: string): string[] =>
    wrap(sanitizeLine(line), room - 4, REASON_LINES).map((part, at) => `${at === 0 ? '  ' : '    '}${part}`);
  return [
    style.bold(sanitizeLine(session.goal)),
    style.dim(`${session.id} · iteration ${iteration}`),
    '',
    `${style[color](style.bold(mark))} ${style[color](head)}`,
    ...reasons.flatMap(indented),
    '',
    style.dim('what ran on the claim'),
    ...verifications.map((record) => recordLine(record, style)),
    ...(replay ? [`  ${oldChecksText(replay.passed, style)}`] : []),
    ...opinionLines(judgement, style, indented),
    ...flaky.flatMap((name) => indented(`flaky: ${name}`)).map(style.yellow),
    ...changeLines(judgement, style, indented),
    ...noteLines(judgement, style, indented),
  ];
}

function recordLine(
  { command, passed, exit, durationMs, ...record }: StoredVerification,
  style: Style,
): string {
  const facts = [
    ...(record.tests ? [countsText(record.tests)] : []),
    ...(passed ? [] : [exit === null ? 'it did not finish' : `exit ${exit}`]),
    ...(record.isHeldOut ? ['held out'] : []),
    ...(record.isFlaky ? ['it failed first'] : []),
    record.isReused ? 'known from this very tree, not run again' : formatDuration(durationMs),
  ].join(' · ');
  const mark = passed ? style.green('✓') : style.red('✗');
  return `  ${mark} ${sanitizeLine(command)}  ${style.dim(facts)}`;
}

function oldChecksText(isPassed: boolean, style: Style): string {
  return isPassed
    ? `${style.green('✓')} the same with the checks as they were on the base: they hold`
    : `${style.red('✗')} the same with the checks as they were on the base: they do not hold`;
}

const CLAIM_MARKS = { true: '✓', false: '✗', unproven: '?' } as const;

/** What the other agent thought, claim by claim. Its reasons are told above where they count. */
function opinionLines(
  { opinion }: ChangedChecks['judgement'],
  style: Style,
  indented: (line: string) => string[],
): string[] {
  if (!opinion) return [];
  const who = [opinion.agent, ...(opinion.model ? [opinion.model] : [])].map(sanitizeLine).join(' · ');
  const mark = opinion.accept ? style.green('✓') : style.red('✗');
  return [
    `  ${mark} second opinion: ${opinion.accept ? 'accepted' : 'refused'}  ${style.dim(who)}`,
    ...opinion.claims.flatMap(({ text, verdict, where }) =>
      indented(`  ${CLAIM_MARKS[verdict]} ${text}${where ? ` (${where})` : ''}`),
    ),
  ];
}

/** What was changed, and what the agent says to it. */
function changeLines(
  { changes, declared }: ChangedChecks['judgement'],
  style: Style,
  indented: (line: string) => string[],
): string[] {
  if (changes.length === 0) return [];
  const said = new Map(declared.map(({ path, reason }) => [path.replace(/^\.\//, ''), reason]));
  return [
    '',
    style.dim('what was changed of the checks'),
    ...changes.flatMap(({ path, part, what }) => {
      const reason = said.get(path);
      return [
        ...indented(`${what} ${path}${part === null ? '' : ` (${part})`}`),
        reason === undefined
          ? style.dim('    not declared by the agent')
          : indented(`the agent says: ${reason}`)
              .map((line) => `  ${line}`)
              .join('\n'),
      ];
    }),
  ];
}

/** They are for reading: no claim is refused for one alone. */
function noteLines(
  { notes }: ChangedChecks['judgement'],
  style: Style,
  indented: (line: string) => string[],
): string[] {
  if (notes.length === 0) return [];
  return [
    '',
    style.dim('worth a look: what the diff adds'),
    ...notes.flatMap(({ path, line, what, text }) => indented(`${path}:${line} ${what}: ${text}`)),
  ];
}

function diffText(diff: string, style: Style): string {
  return sanitizeForTerminal(diff.trimEnd())
    .split('\n')
    .map((line) => {
      if (/^(diff |index |--- |\+\+\+ )/.test(line)) return style.bold(line);
      if (line.startsWith('+')) return style.green(line);
      if (line.startsWith('-')) return style.red(line);
      return line.startsWith('@@') ? style.cyan(line) : line;
    })
    .join('\n');
}

function printNext({ session: { id, status, stop_reason } }: ChangedChecks, output: Output): void {
  if (status !== 'blocked' || stop_reason !== 'checks_changed') return;
  const { style } = output.stderr;
  output.talk(`\n  ${style.dim('accept')}  pulse accept ${id}`);
  output.talk(`  ${style.dim('reject')}  pulse reject ${id} "…"`);
}
