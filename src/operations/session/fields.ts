/** Fields that several operations on sessions share. */
import { MOST_BUDGET_TOKENS, MOST_ITERATIONS } from '../../domain/bounds.ts';
import { CHECK_POLICIES } from '../../domain/check-words.ts';
import {
  choice,
  duration,
  flag,
  id,
  integer,
  path,
  reference,
  required,
  seconds,
  text,
  texts,
  usd,
} from '../fields.ts';

const COMMAND_LENGTH = 10_000;
export const LONG_TEXT = 64 * 1024;
/** Of a text that blanks alone do not make. */
export const SAYS_SOMETHING = { matches: /\S/, says: 'must say something' };

export const sessionId = required(
  id(100, {
    help: 'A session: its id, four or more characters of its beginning or its end.',
    pathName: 'id',
    argument: 'ID',
  }),
);

export const waitSeconds = seconds(
  { max: 50 },
  {
    help: 'Wait so long for the session to stop before answering, instead of asking again and again (0).',
    on: ['mcp'],
  },
);

/** Who works. */
const agentFields = {
  agent: text(100, {
    help: 'Which agent works (the configured, else the first installed).',
    option: 'agent NAME',
  }),
  command: text(COMMAND_LENGTH, {
    help: 'A shell command to run as the agent: brief on stdin, message on stdout.',
    option: 'command CMD',
  }),
  model: text(200, { help: 'Which model the agent is asked to use (its own choice).', option: 'model NAME' }),
};

/** How the work is checked, and how a worktree is prepared. */
export const verify = texts(COMMAND_LENGTH, {
  help: 'Shell commands that must pass before "done" is believed, like "npm test".',
  option: 'verify CMD',
});
/** What becomes of a claim that changes the checks, and whether they run on the base first. */
export const refereeFields = {
  checks: choice(CHECK_POLICIES, {
    help: 'A claim that changes checks: ask a person, allow it (shown everywhere), or forbid it (ask).',
    option: 'checks HOW',
    personValues: ['allow'],
  }),
  noBase: flag({ help: 'Do not run the checks on the base first.', option: 'no-base' }),
};
export const setup = texts(COMMAND_LENGTH, {
  help: 'Shell commands that make a fresh worktree usable (default: by the lockfile).',
  option: 'setup CMD',
});

export const maxIterations = integer(
  { min: 1, max: MOST_ITERATIONS },
  { help: 'Stop after so many iterations (10).', option: 'max-iterations N' },
);

const budgetFields = {
  budgetUsd: usd({ help: 'Stop before more is spent, in USD (10).', option: 'budget-usd X|none' }),
  budgetTokens: integer(
    { min: 1, max: MOST_BUDGET_TOKENS },
    { help: 'Stop at so many tokens.', option: 'budget-tokens N' },
  ),
  timeLimitMs: duration({
    help: 'Stop after so much running time (8h).',
    wire: 'timeLimit',
    option: 'time-limit D',
  }),
  iterationTimeoutMs: duration({
    help: 'End an iteration after this time (60m).',
    wire: 'iterationTimeout',
    option: 'iteration-timeout D',
  }),
  idleTimeoutMs: duration({
    help: 'End it after this time without a sign of life (10m).',
    wire: 'idleTimeout',
    option: 'idle-timeout D',
  }),
};

/** What may change while a session stands still. */
export const choiceFields = {
  ...agentFields,
  verify,
  setup,
  ...refereeFields,
  maxIterations,
  ...budgetFields,
};

export const projectPath = required(
  path({ help: 'The git repository.', wire: 'projectPath', option: 'path DIR' }),
);

/** Of every start, in every loop. */
export const startFields = {
  ...agentFields,
  ...budgetFields,
  projectName: text(200, { help: "The project's name (the folder's).", option: 'project NAME' }),
  base: text(500, { help: 'Start from this branch, tag or commit (HEAD).', option: 'base BRANCH' }),
  branch: text(500, { help: 'The branch to write (pulse/<goal>-<id>).', option: 'branch NAME' }),
  sandbox: choice(['off', 'auto', 'on'], {
    help: 'Enclose the agent and its checks with bubblewrap: on, or refused; auto where it works; off (the configured).',
    option: 'sandbox HOW',
    personValues: ['off', 'auto'],
  }),
  trust: flag({
    help: 'Believe what the repository’s own config says, for this session.',
    option: 'trust',
    personValues: [true],
  }),
  record: flag({
    help: 'Keep what the agents print, for transcripts and replays (the configured, else yes).',
    switches: {
      record: 'Keep what the agents print, even if the config says no.',
      'no-record': 'Do not keep what the agents print.',
    },
  }),
  chatId: reference({ help: 'A chat to notify.', on: ['http'] }),
  phoneNumber: text(50, { help: 'A phone to notify.', on: ['http'] }),
  discordThreadId: reference({ help: 'A thread to notify.', on: ['http'] }),
};
