/** What a resume changes: the config as it is now, and what the person says beside it. */
import { isDeepStrictEqual } from 'node:util';
import { chooseAgent, NEEDS_COMMAND } from '../agents/registry.ts';

import type { Config } from '../config.ts';
import { checkLimits } from '../domain/bounds.ts';
import { rulesFor } from '../loops/rules.ts';
import type { Session, SessionChoices, SessionSettings } from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import { checkReferee } from './check-referee.ts';
import { type ChosenColumns, choicesOf, chosenColumns, chosenSettings, wantedModel } from './choices.ts';
import type { Operations } from './context.ts';
import { configOfSession } from './project.ts';
import { chooseSandbox } from './sandbox.ts';
import { checkFallback } from './start.ts';

export interface ResumeChange {
  columns: ChosenColumns;
  settings: SessionSettings;
  /** What the loop changes with it, in the same transaction. */
  apply(db: Db): Promise<void>;
  /** What differs, by its name, for the event. */
  changed: Record<string, { from: unknown; to: unknown }>;
}

/** Throws what a start would throw: a config that is not valid, an agent that is not there. Changes nothing. */
export async function changeOfResume(
  operations: Operations,
  { session, settings, input }: { session: Session; settings: SessionSettings; input: SessionChoices },
): Promise<ResumeChange> {
  const { environment } = operations;
  const asked = choicesOf(input);
  checkLimits(asked);
  const rules = rulesFor(session.kind);
  await rules.refuseChoices?.(operations, session, asked);
  const config = await configOfSession(operations, session);
  const chosen = choicesNow({ session, settings, asked });
  const agent = await agentNow(operations, { session, settings, chosen, config });
  if (config.values.fallbackAgent !== settings.fallbackAgent)
    await checkFallback(config.values.fallbackAgent, environment);
  await checkReferee(operations.git, config, { root: session.project_path, environment });
  const sandbox = await chooseSandbox({ wanted: chosen.sandbox, config, environment });
  const columns = {
    ...chosenColumns(chosen, config, { agent: agent.name, kind: session.kind }),
    command: agent.command,
  };
  // Those that follow from a plan may have grown with it.
  if (!rules.countsIterations && asked.maxIterations === undefined)
    columns.max_iterations = session.max_iterations;
  const after: SessionSettings = {
    ...settings,
    ...chosenSettings(chosen, config, sandbox.wish),
    trustedConfig: config.project?.sha256 ?? null,
  };
  const own = (await rules.changeOnResume?.(operations, { session, asked, config })) ?? null;
  return {
    columns,
    settings: after,
    changed: { ...differences({ session, settings, columns, after }), ...own?.changed },
    apply: async (db) => own?.apply(db),
  };
}

/** What was said before stays said. Another agent has neither the command nor the model of the one before. */
function choicesNow({
  session,
  settings,
  asked,
}: {
  session: Session;
  settings: SessionSettings;
  asked: SessionChoices;
}): SessionChoices {
  const { command: _, model: __, ...rest } = settings.chosen ?? asItIs(session, settings);
  const isOther = asked.agent !== undefined && asked.agent !== session.agent;
  const before = isOther ? rest : (settings.chosen ?? asItIs(session, settings));
  const isCommandAlone = asked.command !== undefined && asked.agent === undefined;
  const agent = isCommandAlone && !NEEDS_COMMAND.includes(session.agent) ? { agent: 'command' } : {};
  return { ...before, ...agent, ...asked };
}

/** A session that does not know what was said at its start keeps what it has. */
function asItIs(session: Session, { model, contextStrategy, sandbox }: SessionSettings): SessionChoices {
  return {
    agent: session.agent,
    ...(session.command === null ? {} : { command: session.command }),
    ...(model ? { model } : {}),
    verify: session.verify,
    ...(session.setup === null ? {} : { setup: session.setup }),
    maxIterations: session.max_iterations,
    budgetUsd: session.budget_usd,
    ...(session.budget_tokens === null ? {} : { budgetTokens: session.budget_tokens }),
    ...(session.time_limit_ms === null ? {} : { timeLimitMs: session.time_limit_ms }),
    iterationTimeoutMs: session.iteration_timeout_ms,
    ...(session.idle_timeout_ms === null ? {} : { idleTimeoutMs: session.idle_timeout_ms }),
    sandbox: sandbox ? sandbox.mode : 'off',
    contextStrategy,
  };
}

/** One that nobody names stays: what is installed may be another by now. One that is new must be usable. */
async function agentNow(
  { environment }: Operations,
  {
    session,
    settings,
    chosen,
    config,
  }: { session: Session; settings: SessionSettings; chosen: SessionChoices; config: Config },
): Promise<{ name: string; command: string | null }> {
  const wanted = chosen.agent ?? null;
  const configured = config.values.agent ?? null;
  const command = chosen.command ?? (chosen.agent ? null : (config.values.command ?? null));
  const name = wanted ?? (command === null ? configured : 'command');
  if (name === null) return { name: session.agent, command: session.command };
  const given = wanted === null && name !== 'command' ? null : command;
  const model = wantedModel(chosen, config);
  const isSame = name === session.agent && given === session.command && model === (settings.model ?? null);
  if (!isSame) await chooseAgent({ wanted: name, configured: null, command: given, model, env: environment });
  return { name, command: given };
}

const TOLD_SETTINGS = [
  ...([
    'model',
    'contextStrategy',
    'inferredCompletion',
    'fallbackAgent',
    'patienceMs',
    'limitsWait',
    'maxAgents',
  ] as const),
  ...(['environmentPass', 'needs', 'ownMcp', 'sandbox', 'prices', 'referee'] as const),
];

function differences({
  session,
  settings,
  columns,
  after,
}: {
  session: Session;
  settings: SessionSettings;
  columns: ChosenColumns;
  after: SessionSettings;
}): ResumeChange['changed'] {
  const changed: ResumeChange['changed'] = {};
  const compare = (name: string, from: unknown, to: unknown): void => {
    if (!isDeepStrictEqual(from ?? null, to ?? null)) changed[name] = { from: from ?? null, to: to ?? null };
  };
  for (const [name, to] of Object.entries(columns)) compare(name, session[name as keyof ChosenColumns], to);
  for (const name of TOLD_SETTINGS) {
    // A session from before a setting was known has its default.
    if (settings[name] !== undefined) compare(name, settings[name], after[name]);
  }
  return changed;
}
