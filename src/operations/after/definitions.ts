/** What can be done with a session of any loop after its end. */
import { MERGE_MODES } from '../../domain/after-words.ts';
import { CONTEXT_STRATEGIES } from '../../domain/context-words.ts';
import { choice, duration, flag, required, text, texts } from '../fields.ts';
import { define, get, post } from '../operation.ts';
import {
  LONG_TEXT,
  maxIterations,
  refereeFields,
  SAYS_SOMETHING,
  sessionId,
  setup,
  startFields,
  verify,
} from '../session/fields.ts';

export const merge = define({
  name: 'merge',
  summary: 'Merge a complete session into the branch that it began on.',
  access: 'person',
  fields: {
    sessionId,
    how: choice(MERGE_MODES, {
      help: 'How the base gets it: ff, merge, squash, or pr for a pull request (ff).',
      option: 'merge HOW',
    }),
  },
  http: post('/api/pulse/{id}/merge', 'It is merged, or there was nothing to merge.'),
  tool: {
    name: 'pulse_merge',
    title: 'Merge a session',
    description:
      'Merge a complete session of any loop into its base: ff (the default), merge, squash, or pr for a pull request. ' +
      'A base that is checked out is brought forward only where its checkout is clean. Only on a person’s word.',
    isIdempotent: true,
  },
});

export const discard = define({
  name: 'discard',
  summary: 'Drop the branch, worktree and refs of a session; for 30 days they can be had back.',
  access: 'person',
  fields: { sessionId },
  http: post('/api/pulse/{id}/discard', 'It is discarded.'),
  tool: {
    name: 'pulse_discard',
    title: 'Discard a session',
    description:
      'Drop the branch, worktree and refs of a session that has stopped. What they held is kept for 30 days under ' +
      'refs/pulse/recovery/. Only on a person’s word.',
    isDestructive: true,
    isIdempotent: true,
  },
});

export const showDiscard = define({
  name: 'show discard',
  summary: 'Show what a discard of the session would take away.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/pulse/{id}/discard', 'What would go.'),
});

const { base: _, branch: __, ...followFields } = startFields;

export const follow = define({
  name: 'follow',
  summary: 'Start a session on the branch of one that has ended, with its context.',
  access: 'person',
  fields: {
    sessionId,
    goal: required(
      text(LONG_TEXT, { help: 'What should be done next.', argument: 'GOAL', pattern: SAYS_SOMETHING }),
    ),
    ...followFields,
    verify,
    setup: { ...setup, on: ['cli', 'http'] },
    ...refereeFields,
    maxIterations,
    contextStrategy: choice(CONTEXT_STRATEGIES, {
      help: 'How earlier turns reach the agent.',
      option: 'context HOW',
    }),
    anchorTurnId: text(100, {
      help: 'Begin the context at this turn (the last of the first session).',
      option: 'anchor TURN',
    }),
  },
  runsSession: () => true,
  http: post('/api/pulse/{id}/follow', 'The session is admitted.', { status: 201 }),
  tool: {
    name: 'pulse_follow',
    title: 'Follow a session up',
    description:
      'Start a session on the branch of one that has ended, with its context and with what was chosen for it. ' +
      'Only on a person’s word. Returns at once with the session id.',
  },
});

const olderThanMs = duration(
  {
    help: 'Only of sessions that ended longer ago than this (24h); 0s is all of them.',
    wire: 'olderThan',
    option: 'older-than D',
  },
  { min: 0 },
);

export const showHeld = define({
  name: 'held',
  summary: 'List what sessions that ended a while ago still hold, with sizes.',
  access: 'read',
  fields: { olderThanMs },
  http: get('/api/held', 'Branches, worktrees, recordings, logs and rows, by session.'),
  tool: {
    name: 'pulse_held',
    title: 'List what old sessions hold',
    description:
      'Branches, worktrees, recordings, logs and rows of sessions that ended a while ago, with sizes.',
  },
});

export const clean = define({
  name: 'clean',
  summary:
    'List what old sessions hold (branches, worktrees, recordings, logs, rows) and remove what you choose.',
  access: 'person',
  fields: {
    olderThanMs,
    sessions: texts(100, { help: 'Only of these sessions.', on: ['http', 'mcp'] }),
    unmerged: flag({
      help: 'Also branches whose work is not in their base; they are kept for 30 days.',
      option: 'unmerged',
    }),
  },
  isOfProject: true,
  http: post('/api/clean', 'What was removed, and what stays.', { status: 200 }),
  tool: {
    name: 'pulse_clean',
    title: 'Clean up after old sessions',
    description:
      'Remove what sessions that ended a while ago still hold. A branch that is not merged stays unless `unmerged` is ' +
      'given. Only on a person’s word.',
    isDestructive: true,
  },
});
