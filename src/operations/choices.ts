/** What a person may choose for a session, at its start and at each resume. It wins over the config. */
import { findAdapter } from '../agents/registry.ts';
import type { Config, Settings } from '../config.ts';
import { PulseError } from '../domain/errors.ts';
import { rulesFor } from '../loops/rules.ts';
import type { Session, SessionChoices, SessionSettings } from '../store/sessions.ts';
import { commandOf, refereeFor } from './check-choices.ts';

const NAMES: readonly (keyof SessionChoices)[] = [
  ...(['agent', 'command', 'model', 'verify', 'setup', 'maxIterations', 'budgetUsd'] as const),
  ...(['budgetTokens', 'timeLimitMs', 'iterationTimeoutMs', 'idleTimeoutMs'] as const),
  ...(['sandbox', 'contextStrategy', 'checks', 'noBase', 'record'] as const),
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
  | 'maxAgents'
  | 'environmentPass'
  | 'needs'
  | 'ownMcp'
  | 'sandbox'
  | 'model'
  | 'prices'
  | 'referee'
  | 'record'
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
    maxAgents: values.maxAgents,
    environmentPass: [...values.env.pass],
    ...needsOf(values),
    ...(values.mcp.own ? { ownMcp: true } : {}),
    sandbox,
    model: wantedModel(chosen, config),
    prices: values.prices ?? {},
    referee: refereeFor(chosen, config),
    record: chosen.record ?? isOn(values.record),
    chosen,
  };
}

function isOn(word: NonNullable<Settings['record']>): boolean {
  return word === 'on';
}

function needsOf({ worktree }: Settings): Pick<SessionSettings, 'needs'> {
  const { copy = [], ports = [] } = worktree ?? {};
  return copy.length + ports.length === 0 ? {} : { needs: { copy, ports } };
}

/** Throws `usage` for a name that an agent would take for an option. */
export function wantedModel({ model }: SessionChoices, { values }: Config): string | null {
  const wanted = model ?? values.model ?? null;
  if (wanted === null || /^[^\s-]\S*$/.test(wanted)) return wanted;
  throw new PulseError('usage', `"${wanted}" is no name of a model.`, {
    hint: 'A name has no blanks and does not begin with a dash.',
  });
}
