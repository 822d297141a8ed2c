/** What a page that shows sessions asks (docs/protocol/dashboard.md). */
import { ATTENTION_GROUPS } from '../../domain/attention.ts';
import { MOST_ITERATIONS } from '../../domain/bounds.ts';
import { ITERATION_OUTCOMES, SESSION_STATUSES } from '../../domain/status.ts';
import { choice, flag, integer, text } from '../fields.ts';
import { define, get } from '../operation.ts';
import { sessionId } from '../session/fields.ts';
import { TIME } from './time.ts';

/** Of events and of iterations: the greatest number there can be. */
const MOST = Number.MAX_SAFE_INTEGER;

export const listCards = define({
  name: 'list cards',
  summary: 'List sessions as cards, newest first: what each asks of a person, and what happens in it.',
  access: 'read',
  fields: {
    status: choice(SESSION_STATUSES, { help: 'Only those with this status.' }),
    kind: text(100, { help: 'Only those of this loop.' }),
    project: text(4096, { help: 'Only those of the project with this id, name or path.' }),
    parent: text(100, { help: 'Only those that work for this session.' }),
    attention: choice(ATTENTION_GROUPS, { help: 'Only those of this group.' }),
    since: text(40, {
      help: 'Only those that were made or have stopped then or later, or have not stopped.',
      pattern: TIME,
    }),
    q: text(500, { help: 'Only those whose goal, project, branch or id has these words.' }),
    limit: integer({ min: 1, max: 200 }, { help: 'At most so many (20; over HTTP 50).' }),
    cursor: text(40, {
      help: 'The `nextCursor` of the page before.',
      pattern: { matches: /^ses_[0-9a-f-]{36}$/, says: 'must be a nextCursor' },
    }),
  },
  http: get('/api/pulse', 'A page; `nextCursor` is null on the last one.', { view: 'card' }),
});

export const showHead = define({
  name: 'show head',
  summary: 'Show a session without its iterations.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/pulse/{id}', 'The session.', { view: 'head' }),
});

export const pageIterations = define({
  name: 'list iterations',
  summary: 'List iterations without their long texts, newest first.',
  access: 'read',
  fields: {
    sessionId,
    before: integer({ min: 1, max: MOST_ITERATIONS + 1 }, { help: 'Only those with a lower number.' }),
    limit: integer({ min: 1, max: 200 }, { help: 'At most so many (50).' }),
    outcome: choice(ITERATION_OUTCOMES, { help: 'Only those that ended so.' }),
  },
  http: get('/api/pulse/{id}/iterations', 'A page; `nextBefore` is null on the last one.'),
});

export const history = define({
  name: 'history',
  summary: 'List events of a session, in order.',
  access: 'read',
  fields: {
    sessionId,
    before: integer({ min: 1, max: MOST }, { help: 'The newest of those with a lower number.' }),
    after: integer({ min: 0, max: MOST }, { help: 'The oldest of those with a higher number.' }),
    limit: integer({ min: 1, max: 1_000 }, { help: 'At most so many (200).' }),
    types: text(1_000, {
      help: 'Only these, by commas; `agent.*` stands for all that begin so.',
      pattern: { matches: /^[A-Za-z.]+\*?(?:,[A-Za-z.]+\*?)*$/, says: 'must be names of events, by commas' },
    }),
    iteration: integer({ min: 1, max: MOST_ITERATIONS }, { help: 'Only those of this iteration.' }),
  },
  http: get('/api/pulse/{id}/history', 'A page of events, ascending.'),
});

const oneIteration = integer({ min: 1, max: MOST_ITERATIONS }, { help: 'Of this iteration.' });
/** What may stand where git expects a commit. */
const COMMIT = { matches: /^[0-9a-f]{4,64}$/, says: 'must be a commit' };

export const diffFields = {
  path: text(4096, { help: 'Only this file, whole.' }),
  stat: flag({ help: 'Without the patches.' }),
};

export const diff = define({
  name: 'diff',
  summary: 'Show what a session has changed, file by file.',
  access: 'read',
  fields: {
    sessionId,
    iteration: oneIteration,
    from: text(64, { help: 'From this commit (the base).', pattern: COMMIT }),
    to: text(64, { help: 'To this commit (where it stands).', pattern: COMMIT }),
    ...diffFields,
  },
  http: get('/api/pulse/{id}/diff', 'The changed files with their patches, within bounds.'),
});

export const brief = define({
  name: 'brief',
  summary: 'Show what the agent was told in an iteration, by sections.',
  access: 'read',
  fields: { sessionId, iteration: oneIteration },
  http: get('/api/pulse/{id}/brief', 'The brief, its anchor and its slice.'),
});

export const transcript = define({
  name: 'transcript',
  summary: 'Show what the agent printed in an iteration, from its recording.',
  access: 'read',
  fields: {
    sessionId,
    iteration: oneIteration,
    attempt: integer({ min: 1, max: 1_000_000 }, { help: 'Of this attempt (the last).' }),
    after: integer({ min: 0, max: MOST }, { help: 'Only entries with a higher number.' }),
    limit: integer({ min: 1, max: 1_000 }, { help: 'At most so many (200).' }),
  },
  http: get('/api/pulse/{id}/transcript', 'A page of entries; `nextAfter` is null on the last one.'),
});
