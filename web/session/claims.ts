/** What the agent says beside what Pulse found, row by row. Claims are fields: signals, `filesChanged`, declared checks; prose is not read. */
import type { Iteration, Judgement, PulseEvent, Verification } from '../api/types.ts';

export type Word = 'ok' | 'FALSE' | 'differs' | 'you decide' | '';

export interface ClaimRow {
  claim: string;
  /** `null`: what was claimed was not looked at. */
  fact: string;
  word: Word;
}

export interface ClaimFacts {
  judgement: Judgement;
  /** Of this attempt. */
  runs: readonly Verification[];
  /** `undefined`: it is not known yet. */
  iteration: Iteration | undefined;
  /** Of this iteration: what tools answered to the agent at once. */
  refusals: readonly PulseEvent[];
}

export function claimRows({ judgement, runs, iteration, refusals }: ClaimFacts): ClaimRow[] {
  return [
    ...(iteration ? [signalRow(judgement, iteration)] : []),
    ...runs.map((run) => checkRow(run, judgement)),
    ...(iteration ? filesRows(iteration, refusals) : []),
    ...declaredRows(judgement),
  ];
}

const JUDGED: Record<Judgement['verdict'], [string, Word]> = {
  accepted: ['accepted', 'ok'],
  rejected: ['rejected', 'FALSE'],
  ask: ['its checks were changed', 'you decide'],
};

function signalRow(
  { verdict, reasons, decidedBy }: Judgement,
  { signal, iteration_number: number, unit }: Iteration,
): ClaimRow {
  const [text, word] = JUDGED[verdict];
  const why = verdict === 'rejected' && reasons.length > 0 ? `: ${reasons[0]}` : '';
  const who = decidedBy ? `, by ${decidedBy}` : '';
  return { claim: `${signal ?? unit ?? 'done'} at ${number}`, fact: `${text}${who}${why}`, word };
}

function checkRow({ command, exit, passed, tests }: Verification, { base, verdict }: Judgement): ClaimRow {
  const before = base?.tests[command];
  const counted = tests ? `, ${tests.passed} of ${tests.ran} tests passed` : '';
  const skipped = tests && tests.skipped > 0 ? `, ${tests.skipped} skipped` : '';
  const then = before ? `, ${before.ran} ran on the base` : '';
  return {
    claim: 'its checks pass',
    fact: `${command} → ${exit === null ? 'no exit' : `exit ${exit}`}${counted}${skipped}${then}`,
    // A workflow's check may fail as it did before the first pulse.
    word: passed ? 'ok' : verdict === 'accepted' ? '' : 'FALSE',
  };
}

const WRONG_FILES = 'filesChanged is not what git says. ';

function filesRows({ files_changed: files }: Iteration, refusals: readonly PulseEvent[]): ClaimRow[] {
  const wrong = refusals
    .flatMap(({ data }) => (Array.isArray(data.reasons) ? data.reasons.map(String) : []))
    .filter((reason) => reason.startsWith(WRONG_FILES));
  const named = files.length === 0 ? 'no file' : `${files.length}: ${files.slice(0, 5).join(', ')}`;
  const more = files.length > 5 ? ` and ${files.length - 5} more` : '';
  return [
    ...wrong.map((reason) => ({
      claim: 'filesChanged',
      fact: `git says otherwise: ${reason.slice(WRONG_FILES.length)}`,
      word: 'differs' as const,
    })),
    {
      claim: wrong.length > 0 ? 'filesChanged, corrected' : 'its files',
      fact: `git says ${named}${more}`,
      word: '',
    },
  ];
}

/** What the agent said of the checks it changed, and what it changed and said nothing of. */
function declaredRows({ declared, changes }: Judgement): ClaimRow[] {
  const path = (text: string): string => text.replace(/^\.\//, '');
  const said = new Map(declared.map((one) => [path(one.path), one.reason]));
  const changed = new Set(changes.map((one) => one.path));
  return [
    ...changes.map(({ path: file, part, what }): ClaimRow => {
      const reason = said.get(file);
      const fact = `check ${what}: ${file}${part === null ? '' : ` (${part})`}`;
      return reason === undefined
        ? { claim: 'nothing said of it', fact, word: 'differs' }
        : { claim: `checksChanged ${file}: ${reason}`, fact, word: 'ok' };
    }),
    ...[...said]
      .filter(([file]) => !changed.has(file))
      .map(
        ([file, reason]): ClaimRow => ({
          claim: `checksChanged ${file}: ${reason}`,
          fact: 'it is as it was',
          word: 'differs',
        }),
      ),
  ];
}

export interface Freshness {
  /** `checked`: as it was checked, as far as is known; `stale`: the work has changed since; `never`: nothing ran. */
  state: 'checked' | 'stale' | 'never';
  at: string | null;
}

/** What is known before the checks run again: whether the newest work is what they ran on. */
export function freshnessOf(
  verifications: readonly Verification[],
  newest: Iteration | undefined,
  head: string | null,
): Freshness {
  const last = verifications.at(-1);
  if (!last) return { state: 'never', at: null };
  const isSame = last.commit !== null && last.commit === head;
  const isOther = newest !== undefined && newest.tree_hash !== null && newest.tree_hash !== last.tree;
  return { state: !isSame && isOther ? 'stale' : 'checked', at: last.at };
}
