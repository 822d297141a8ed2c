/** What the config and a person say about a session's checks: their commands, and how claims are judged. */
import type { Config, Settings } from '../config.ts';
import type { HeldOut, RefereeSettings, Reviewer } from '../domain/judgement.ts';
import type { SessionChoices } from '../store/sessions.ts';

/** How claims are judged. */
export function refereeFor(chosen: SessionChoices, { values }: Config): RefereeSettings {
  const checks: NonNullable<Settings['checks']> = values.checks;
  const reports = values.verify.flatMap((check: CheckSetting) =>
    typeof check === 'string' || !check.report ? [] : [[check.command, check.report] as const],
  );
  return {
    baseWaitMs: chosen.noBase ? null : values.baseWait,
    known: values.known,
    policy: chosen.checks ?? checks.policy ?? 'ask',
    paths: [...(checks.paths ?? [])],
    exclude: [...(checks.exclude ?? [])],
    ...(values.tests ? { tests: [...values.tests] } : {}),
    reports: Object.fromEntries(reports),
    ...(values.heldOut?.length ? { heldOut: values.heldOut.map(heldOutOf) } : {}),
    ...(values.review ? { review: reviewerOf(values.review) } : {}),
  };
}

export const HELD_OUT_FOLDER = '.pulse/held-out';

function heldOutOf({ from, to, command, reveal }: NonNullable<Settings['heldOut']>[number]): HeldOut {
  return { from: from ?? HELD_OUT_FOLDER, to: to ?? '', command, reveal: reveal ?? 'names' };
}

function reviewerOf({ agent, model, command }: NonNullable<Settings['review']>): Reviewer {
  return { agent, model: model ?? null, command: command ?? null };
}

type CheckSetting = NonNullable<Settings['verify']>[number];

/** The command of a check of the config. */
export function commandOf(check: CheckSetting): string {
  return typeof check === 'string' ? check : check.command;
}
