/** What an event tells of a claim's judgement, read with care: an older version has written none. */
import { formatTrust, TRUST_WORDS, type Trust } from '../../domain/check-words.ts';

export interface JudgementTold {
  verdict: 'accepted' | 'rejected' | 'ask';
  /** Beyond what the failing commands themselves say. */
  reasons: string[];
  flaky: string[];
  /** Checks that the claim has changed, and how many in all. */
  changed: string[];
  changedCount: number;
  oldChecks: 'hold' | 'fail' | null;
}

/** `null`: the event tells none. Its texts are as they were written: they are not safe for a terminal yet. */
export function judgementTold({ judgement, commands }: Record<string, unknown>): JudgementTold | null {
  if (typeof judgement !== 'object' || judgement === null) return null;
  const { verdict, reasons, flaky, changed, changedCount, oldChecks } = judgement as Record<string, unknown>;
  if (verdict !== 'accepted' && verdict !== 'rejected' && verdict !== 'ask') return null;
  const failed = failedCommands(commands);
  return {
    verdict,
    reasons: texts(reasons).filter((reason) => !failed.some((command) => isToldBy(reason, command))),
    flaky: texts(flaky),
    changed: texts(changed),
    changedCount: Number(changedCount ?? 0),
    oldChecks: oldChecks === 'hold' || oldChecks === 'fail' ? oldChecks : null,
  };
}

/** A command that failed is shown with its output. */
function isToldBy(reason: string, command: string): boolean {
  return reason.startsWith(`${command} failed (`);
}

function failedCommands(commands: unknown): string[] {
  if (!Array.isArray(commands)) return [];
  return commands.filter((check) => check?.passed === false).map(({ command }) => String(command));
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** `''`: the event tells none. */
export function trustTold({ trust, unverified }: Record<string, unknown>): string {
  if (TRUST_WORDS.includes(trust as Trust)) return formatTrust(trust as Trust);
  return unverified ? 'unverified' : '';
}

/** `12 tests, 1 failed, 2 skipped`; nothing where none is told. */
export function countsText(tests: unknown): string {
  if (typeof tests !== 'object' || tests === null) return '';
  const { ran, failed, skipped } = tests as Record<string, unknown>;
  return [
    `${ran} ${ran === 1 ? 'test' : 'tests'}`,
    ...(Number(failed) > 0 ? [`${failed} failed`] : []),
    ...(Number(skipped) > 0 ? [`${skipped} skipped`] : []),
  ].join(', ');
}
