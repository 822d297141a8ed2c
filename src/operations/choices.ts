/** What a person may choose for a session, at its start and at each resume. It wins over the config. */
import { findAdapter } from '../agents/registry.ts';
import type { Config, Settings } from '../config.ts';
import { PulseError } from '../domain/errors.ts';
import type { HeldOut, RefereeSettings, Reviewer } from '../domain/judgement.ts';
import { rulesFor } from '../loops/rules.ts';
import type { Session, SessionChoices, SessionSettings } from '../store/sessions.ts';

const NAMES: readonly (keyof SessionChoices)[] = [
  ...(['agent', 'command', 'model', 'verify', 'setup', 'maxIterations', 'budgetUsd'] as const),
  ...(['budgetTokens', 'timeLimitMs', 'iterationTimeoutMs', 'idleTimeoutMs'] as const),
  ...(['sandbox', 'contextStrategy', 'checks', 'noBase'] as const),
];

/** Only what was said. */
export function choicesOf(input: SessionChoices): SessionChoices {
  return Object.fromEntries(
    NAMES.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]),
  );
}

/** The columns of a session that come from choices and config. */
export type ChosenColumns = Pick<
  Session,
  | 'agent'
  | 'command'
  | 'setup'
  | 'verify'
  | 'max_iterations'
  | 'budget_usd'
  | 'budget_tokens'
  | 'time_limit_ms'
  | 'iteration_timeout_ms'
  | 'idle_timeout_ms'
>;

export function chosenColumns(
  chosen: SessionChoices,
  { values, sources }: Config,
  { agent, kind }: Pick<Session, 'agent' | 'kind'>,
): ChosenColumns {
  const hasTimeLimit = !rulesFor(kind).hasNoDefaultTimeLimit || sources.timeLimit !== 'default';
  const isIdleAsked = chosen.idleTimeoutMs !== undefined || sources.idleTimeout !== 'default';
  const idleTimeout = chosen.idleTimeoutMs ?? values.idleTimeout;
  return {
    agent,
    command: chosen.command ?? (agent === 'command' ? (values.command ?? null) : null),
    setup: chosen.setup ?? values.setup ?? null,
    verify: chosen.verify ?? values.verify.map(commandOf),
    max_iterations: chosen.maxIterations ?? values.maxIterations,
    budget_usd: chosen.budgetUsd === undefined ? values.budgetUsd : chosen.budgetUsd,
    budget_tokens: chosen.budgetTokens ?? values.budgetTokens ?? null,
    time_limit_ms: chosen.timeLimitMs ?? (hasTimeLimit ? values.timeLimit : null),
    iteration_timeout_ms: chosen.iterationTimeoutMs ?? values.iterationTimeout,
    idle_timeout_ms: isIdleAsked || findAdapter(agent).idleByDefault ? idleTimeout : null,
  };
}

/** The settings that come from choices and config; what a start alone decides is not among them. */
export type ChosenSettings = Pick<
  SessionSettings,
  | 'contextStrategy'
  | 'inferredCompletion'
  | 'fallbackAgent'
  | 'patienceMs'
  | 'limitsWait'
  | 'environmentPass'
  | 'sandbox'
  | 'model'
  | 'prices'
  | 'referee'
  | 'chosen'
>;

export function chosenSettings(
  chosen: SessionChoices,
  config: Config,
  sandbox: SessionSettings['sandbox'],
): ChosenSettings {
  const { values } = config;
  const { wait } = values.limits;
  return {
    contextStrategy: chosen.contextStrategy ?? values.context,
    inferredCompletion: values.completion.inferred,
    fallbackAgent: values.fallbackAgent ?? null,
    patienceMs: values.patience,
    limitsWait: wait === true || (wait as unknown) === 'on',
    environmentPass: [...values.env.pass],
    sandbox,
    model: wantedModel(chosen, config),
    prices: values.prices ?? {},
    referee: refereeFor(chosen, config),
    chosen,
  };
}

/** How claims are judged. */
function refereeFor(chosen: SessionChoices, { values }: Config): RefereeSettings {
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

/** Throws `usage` for a name that an agent would take for an option. */
export function wantedModel({ model }: SessionChoices, { values }: Config): string | null {
  const wanted = model ?? values.model ?? null;
  if (wanted === null || /^[^\s-]\S*$/.test(wanted)) return wanted;
  throw new PulseError('usage', `"${wanted}" is no name of a model.`, {
    hint: 'A name has no blanks and does not begin with a dash.',
  });
}
