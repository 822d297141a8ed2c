import { basename, join } from 'node:path';
import type { AgentAdapter } from '../agents/contract.ts';
import { chooseAgent, findAdapter } from '../agents/registry.ts';
import { hasPrice } from '../agents/shared/prices.ts';
import type { Config } from '../config.ts';
import { turnFromGoal, turnOf } from '../context/turns.ts';
import { checkLimits } from '../domain/bounds.ts';
import { asPulseError, PulseError } from '../domain/errors.ts';
import type { NewEvent } from '../domain/events.ts';
import { newSessionId, shortId, uuidv7 } from '../domain/ids.ts';
import { storedTurn } from '../engine/runner/turns.ts';
import { assertBranchName, defaultBranchName } from '../git/branch-name.ts';
import type { Git } from '../git/exec.ts';
import { remoteUrl } from '../git/remote.ts';
import {
  branchExists,
  type DirtyPaths,
  notIncludedPaths,
  type Repository,
  resolveBase,
} from '../git/repository.ts';
import { chooseIdentity } from '../git/signing.ts';
import { rulesFor } from '../loops/rules.ts';
import { insertRoutes } from '../notify/routes.ts';
import { appendEvents } from '../store/events.ts';
import { explainTakenBranch, requireFreeBranch } from '../store/session-branches.ts';
import {
  getSession,
  insertSession,
  type NewSession,
  type Session,
  type SessionChoices,
  type SessionSettings,
} from '../store/sessions.ts';
import { insertTurn, type StoredTurn } from '../store/turns.ts';
import { checkReferee } from './check-referee.ts';
import { choicesOf, chosenColumns, chosenSettings, wantedModel } from './choices.ts';
import type { Operations, TransactionHook } from './context.ts';
import { sourceOf, withIssue } from './issue-goal.ts';
import type { CallerOptions } from './operation.ts';
import { openTrustedProject, type Project } from './project.ts';
import { protectsNote } from './protected-checks.ts';
import { type ChosenSandbox, chooseSandbox } from './sandbox.ts';

const MAX_GOAL_BYTES = 64 * 1024;

export interface StartInput extends SessionChoices {
  /** Which loop drives it. Default: goal. */
  kind?: string;
  goal: string;
  path: string;
  createdBy: CallerOptions['createdBy'];
  projectName?: string;
  base?: string;
  branch?: string;
  anchorTurnId?: string;
  /** A person's word that the repository's own config may be believed, for this session. */
  trust?: boolean;
  /** An issue whose text is the goal, or follows it: its number, or its address. */
  issue?: string;
  /** Say on the issue that the session is complete. */
  comment?: boolean;
  /** The file that the goal was read from. */
  from?: string;
  chatId?: string;
  phoneNumber?: string;
  discordThreadId?: string;
}

export interface StartNotes {
  /** Changes in the user's tree that the session does not see. */
  notIncluded: DirtyPaths;
  /** The agent tells no cost, and no price is known for its model: only tokens, time and iterations bind. */
  isCostUnknown: boolean;
  /** Unknown only until the agent names its model: one that has a price is counted from then on. */
  isCostOpen: boolean;
  isUnverified: boolean;
  /** What says what its checks are, in a line; `null`: it has none. */
  protects: string | null;
  sandbox: ChosenSandbox;
}

export interface Started {
  session: Session;
  notes: StartNotes;
  /** A session that is admitted has no runner yet. */
  next: 'run';
}

export interface StartParts {
  /** Opened already, by a loop that needed it for its own part. */
  project?: Project;
  /** The loop has checks of its own: without commands its completion is no less verified. */
  hasOwnChecks?: boolean;
  /** Those of them that the referee judges by. */
  checks?: { commands: readonly string[]; isFromConfig: boolean };
  /** The session whose findings it carries out. */
  implements?: string;
  /** The session whose branch it continues, where that stands, and what was said last in it. */
  continues?: { session: Session; tip: string; turn: StoredTurn | null };
  within?: TransactionHook;
}

/** Admits a session: a durable row, nothing else. Everything is checked first; a refusal creates nothing. */
export async function startSession(
  operations: Operations,
  given: StartInput,
  { project, hasOwnChecks, checks, implements: found, continues, within }: StartParts = {},
): Promise<Started> {
  const { engine, git, home, environment } = operations;
  if (given.issue === undefined) checkGoal(given.goal);
  checkLimits(given);
  const { repository, config } = project ?? (await openTrustedProject(operations, given));
  const { input, issue } = await withIssue(given, { root: repository.root, config, environment });
  checkGoal(input.goal);
  const model = wantedModel(input, config);
  const { name: agent, adapter } = await chooseAgent({
    wanted: input.agent ?? null,
    configured: config.values.agent ?? null,
    command: input.command ?? (input.agent ? null : (config.values.command ?? null)),
    model,
    env: environment,
  });
  // One that is no agent, or that cannot be used here, is told now and not at three in the morning.
  await checkFallback(config.values.fallbackAgent, environment);
  await checkReferee(git, config, { root: repository.root, environment });
  const sandbox = await chooseSandbox({ wanted: input.sandbox, config, environment });
  const id = newSessionId(engine.ids);
  const base = continues
    ? { branch: continues.session.base_branch, sha: continues.tip }
    : await chooseBase(git, repository, input.base);
  const branch =
    continues?.session.branch_name ?? (await chooseBranch(git, repository, { input, short: shortId(id) }));
  const session = newSession({
    id,
    input,
    config,
    repository,
    agent,
    base,
    branch,
    follows: continues?.session.id ?? null,
    worktrees: home.worktrees,
  });
  const judgedBy = checks ?? { commands: session.verify, isFromConfig: input.verify === undefined };
  // Each asks git, and none needs another.
  const [notIncluded, protects, identity] = await Promise.all([
    notIncludedPaths(git, repository.root),
    protectsNote(git, { ...judgedBy, root: repository.root, commit: base.sha, ...protectedBy(config) }),
    chooseIdentity(git, { root: repository.root, head: repository.headSha, sign: config.values.git.sign }),
  ]);
  const notes: StartNotes = {
    notIncluded,
    ...costNotes(adapter, { model, config, environment }),
    isUnverified: !hasOwnChecks && session.verify.length === 0 && !config.values.heldOut?.length,
    protects,
    sandbox,
  };
  const settings: SessionSettings = {
    ...sessionSettings({
      config,
      input,
      sandbox: sandbox.wish,
      identity,
      remote: await fleetRemote(git, repository, config),
    }),
    ...(found === undefined ? {} : { implements: found }),
    ...sourceOf(input, issue),
  };
  const place = { id: uuidv7(engine.ids), projectId: repository.projectKey, sessionId: id };
  const turn = goalTurn(place, { goal: input.goal, after: continues?.turn ?? null });
  const stored = await engine.store.tx(
    'admit',
    async (db) => {
      await requireFreeBranch(db, session);
      await insertSession(db, { session, projectId: repository.projectKey, settings }).catch(
        explainTakenBranch(branch),
      );
      const issueUrl = issue?.comment ? issue.url : undefined;
      await insertRoutes(db, session, config.values.notify, { issueUrl });
      const source = sourceOf(input, issue?.url);
      await appendEvents(db, id, [sessionCreated({ session, notes, input, source })]);
      await insertTurn(db, storedTurn(turn));
      await within?.(db, id);
      return getSession(db, id);
    },
    { session: id },
  );
  return { session: stored, notes, next: 'run' };
}

interface Created {
  session: NewSession;
  notes: StartNotes;
  input: StartInput;
  source: Record<string, unknown>;
}

function sessionCreated({ session, notes, input, source }: Created): NewEvent {
  const { goal, agent, branch_name: branch, base_sha: base } = session;
  return {
    type: 'session.created',
    data: {
      ...{ goal, agent, branch, base },
      notIncluded: notes.notIncluded.count,
      costUnknown: notes.isCostUnknown,
      sandbox: notes.sandbox.wish?.mode ?? 'off',
      ...(input.trust ? { trust: 'session' } : {}),
      ...source,
    },
  };
}

/** The first turn of a session is its goal. */
function goalTurn(
  ids: { id: string; projectId: string; sessionId: string },
  { goal, after }: { goal: string; after: StoredTurn | null },
) {
  return turnFromGoal({ ...ids, parent: after && turnOf(after), iteration: null, createdAt: '' }, goal);
}

function costNotes(
  adapter: AgentAdapter,
  { model, config, environment }: { model: string | null; config: Config; environment: NodeJS.ProcessEnv },
): Pick<StartNotes, 'isCostUnknown' | 'isCostOpen'> {
  if (adapter.cost !== 'priced') return { isCostUnknown: adapter.cost === 'unreported', isCostOpen: false };
  const asked = adapter.modelOf ? adapter.modelOf(model, environment) : model;
  return { isCostUnknown: !hasPrice(asked, config.values.prices ?? {}), isCostOpen: asked === null };
}

function checkGoal(goal: string): void {
  if (goal.trim() === '') {
    throw new PulseError('usage', 'The goal is empty.', { hint: 'pulse start "what should be done"' });
  }
  const bytes = Buffer.byteLength(goal);
  if (bytes > MAX_GOAL_BYTES) {
    throw new PulseError('too_large', `The goal has ${bytes} bytes; at most ${MAX_GOAL_BYTES} fit.`, {
      hint: 'Put the details into a file of the repository and name it in the goal.',
    });
  }
  if (goal.includes('\0')) throw new PulseError('invalid_input', 'The goal contains a NUL character.');
}

export async function checkFallback(name: string | undefined, environment: NodeJS.ProcessEnv): Promise<void> {
  if (name === undefined) return;
  findAdapter(name);
  if (['command', 'replay', 'acp'].includes(name)) {
    throw new PulseError('invalid_config', `${name} cannot be the fallback agent: it needs a command.`);
  }
  try {
    await chooseAgent({ wanted: name, configured: null, command: null, env: environment });
  } catch (error) {
    const { hint } = asPulseError(error);
    throw new PulseError('agent_unavailable', `The fallback agent ${name} cannot be used here.`, {
      hint: [hint, 'Or leave `fallbackAgent` out of the config.'].filter(Boolean).join(' '),
      cause: error,
    });
  }
}

async function chooseBase(git: Git, repository: Repository, wanted: string | undefined) {
  if (wanted === undefined) return { branch: repository.branch, sha: repository.headSha };
  return resolveBase(git, repository.root, wanted);
}

async function chooseBranch(
  git: Git,
  { root }: Repository,
  { input, short }: { input: StartInput; short: string },
): Promise<string> {
  const { branch, goal } = input;
  if (branch === undefined) return defaultBranchName(git, { root, goal, shortId: short });
  assertBranchName(branch);
  if (await branchExists(git, root, branch)) {
    throw new PulseError('branch_exists', `The branch ${branch} exists already.`, {
      hint: 'Choose another name with --branch, or leave it out.',
    });
  }
  return branch;
}

interface NewSessionParts {
  id: string;
  input: StartInput;
  config: Config;
  repository: Repository;
  agent: string;
  base: { branch: string | null; sha: string };
  branch: string;
  follows: string | null;
  worktrees: string;
}

function newSession({
  id,
  input,
  config,
  repository,
  agent,
  base,
  branch,
  follows,
  worktrees,
}: NewSessionParts): NewSession {
  return {
    id,
    kind: input.kind ?? 'goal',
    project_name: input.projectName ?? basename(repository.root),
    project_path: repository.root,
    goal: input.goal,
    current_iteration: 0,
    status: 'pending',
    last_signal: null,
    anchor_turn_id: input.anchorTurnId ?? null,
    branch_name: branch,
    branch_lags_at: null,
    branch_of: repository.projectKey,
    base_branch: base.branch,
    base_sha: base.sha,
    worktree_path: join(worktrees, repository.projectKey, id),
    ...chosenColumns(choicesOf(input), config, { agent, kind: input.kind ?? 'goal' }),
    spent_usd: 0,
    reserved_usd: 0,
    running_ms: 0,
    total_commits: 0,
    total_tokens_used: 0,
    stop_reason: null,
    blocked_reason: null,
    resume_at: null,
    chat_id: input.chatId ?? null,
    phone_number: input.phoneNumber ?? null,
    discord_thread_id: input.discordThreadId ?? null,
    parent_session_id: null,
    created_by: input.createdBy,
    started_at: null,
    ended_at: null,
    follows,
  };
}

/** Daemons elsewhere reach the project by its remote: a session with labels cannot do without one. */
async function fleetRemote(git: Git, { root }: Repository, { values }: Config): Promise<string | null> {
  if (values.labels.length === 0) return null;
  const url = await remoteUrl(git, root, values.remote);
  if (url) return url;
  throw new PulseError('invalid_config', `The repository has no remote ${values.remote}.`, {
    hint: 'Sessions with `labels` run on daemons: they need a remote that both sides reach (`remote` in the config).',
  });
}

interface SettingsParts {
  config: Config;
  input: StartInput;
  sandbox: SessionSettings['sandbox'];
  identity: SessionSettings['identity'];
  remote: string | null;
}

function sessionSettings(parts: SettingsParts): SessionSettings {
  const { config, input, identity, remote, sandbox } = parts;
  const { values } = config;
  return {
    ...chosenSettings(choicesOf(input), config, sandbox),
    identity,
    commander: null,
    labels: [...values.labels],
    remote,
    trustedConfig: config.project?.sha256 ?? null,
    ...rulesFor(input.kind ?? 'goal').settings?.(values),
  };
}

/** What a person says of the checks' own files. */
function protectedBy({ values: { checks, tests } }: Config) {
  return { checks, tests };
}
