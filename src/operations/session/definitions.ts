/** What can be done with a session of any loop. */
import { MOST_ITERATIONS } from '../../domain/bounds.ts';
import { SESSION_STATUSES } from '../../domain/status.ts';
import { choice, flag, integer, required, text } from '../fields.ts';
import { define, get, post } from '../operation.ts';
import { choiceFields, LONG_TEXT, SAYS_SOMETHING, sessionId, waitSeconds } from './fields.ts';

export const show = define({
  name: 'show',
  summary: 'Show a session and its iterations.',
  access: 'read',
  fields: { sessionId, waitSeconds },
  http: get('/api/pulse/{id}', 'The session.'),
  tool: {
    name: 'pulse_status',
    title: 'Show a session',
    description:
      'The state of a session: status, why it stopped, its newest iterations, and what to do next.',
  },
});

export const list = define({
  name: 'list',
  summary: 'List sessions, newest first.',
  access: 'read',
  fields: {
    status: choice(SESSION_STATUSES, { help: 'Only those with this status.', option: 'status S' }),
    limit: integer({ min: 1, max: 200 }, { help: 'At most so many (20; over HTTP 50).', option: 'limit N' }),
    cursor: text(40, {
      help: 'The `nextCursor` of the page before.',
      pattern: { matches: /^ses_[0-9a-f-]{36}$/, says: 'must be a nextCursor' },
      on: ['http'],
    }),
  },
  http: get('/api/pulse', 'A page; `nextCursor` is null on the last one.', { defaults: { limit: 50 } }),
  tool: {
    name: 'pulse_list',
    title: 'List sessions',
    description: 'The sessions of this machine, newest first.',
    defaults: { limit: 20 },
  },
});

export const showIteration = define({
  name: 'show iteration',
  summary: 'Show one iteration with its evidence.',
  access: 'read',
  fields: {
    sessionId,
    number: required(
      integer({ min: 1, max: MOST_ITERATIONS }, { help: 'Its number, from 1.', pathName: 'n' }),
    ),
  },
  http: get('/api/pulse/{id}/iterations/{n}', 'The iteration.'),
});

export const showVerifications = define({
  name: 'show verifications',
  summary: 'Show the evidence: what Pulse itself ran, oldest first.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/pulse/{id}/verifications', 'The evidence.'),
});

export const showEvidence = define({
  name: 'show evidence',
  summary: 'Show the evidence with what the referee said of each claim, oldest first.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/pulse/{id}/evidence', 'The evidence.'),
});

export const showContext = define({
  name: 'show context',
  summary: 'Show the brief that the agent got.',
  access: 'read',
  fields: {
    sessionId,
    maxTurns: integer({ min: 1, max: 50 }, { help: 'At most so many of the newest turns (10).' }),
  },
  tool: {
    name: 'pulse_context',
    title: 'Show the brief that the agent got',
    description: 'The newest iteration’s brief and anchor, and the newest turns of the session.',
  },
});

export const pause = define({
  name: 'pause',
  summary: 'Pause a session after the current iteration.',
  access: 'change',
  fields: {
    sessionId,
    now: flag({
      help: 'End the agent at once; its work is kept aside and the iteration done again.',
      option: 'now',
    }),
  },
  http: post('/api/pulse/{id}/pause', 'The pause is asked for.'),
  tool: {
    name: 'pulse_pause',
    title: 'Pause a session',
    description: 'Pause a session after the current iteration; pulse_resume continues it.',
    isIdempotent: true,
  },
});

export const resume = define({
  name: 'resume',
  summary: 'Go on with a blocked, paused or failed session, or adopt one without a runner.',
  access: 'person',
  fields: {
    sessionId,
    answer: text(LONG_TEXT, { help: 'Answers what the agent asked.', option: 'answer TEXT' }),
    ...choiceFields,
  },
  runsSession: () => true,
  http: post('/api/pulse/{id}/resume', 'The session runs again.'),
  tool: {
    name: 'pulse_resume',
    title: 'Resume a session',
    description:
      'Go on with a blocked, paused or failed session: with a person’s answer to what the agent asked, or with a higher ' +
      'limit after one was reached. The config is read again, and agent, model, verify and setup may be others. Adopts a running session that nobody runs. Only on a person’s word.',
  },
});

export const note = define({
  name: 'note',
  summary: 'Tell a session something without stopping it; the next brief quotes it.',
  access: 'person',
  fields: {
    sessionId,
    text: required(text(LONG_TEXT, { help: 'What the agent should know.', argument: 'TEXT' })),
    isAnswer: flag({
      help: 'It answers what a stopped session asked: the session continues.',
      option: 'answer',
    }),
  },
  runsSession: ({ isAnswer }) => isAnswer === true,
  http: post('/api/pulse/{id}/notes', 'The note is kept.'),
  tool: {
    name: 'pulse_note',
    title: 'Tell a session something',
    description:
      'Steer a session without stopping it: the next brief quotes the note, and a running agent that uses the tools of ' +
      'Pulse gets it at once. With isAnswer it is the reply to what a stopped session asked. Only on a person’s word.',
  },
});

export const accept = define({
  name: 'accept',
  summary: 'Accept a completion that changed the checks.',
  access: 'person',
  fields: { sessionId },
  runsSession: () => true,
  http: post('/api/pulse/{id}/accept', 'The claim stands, with its changed checks.'),
  tool: {
    name: 'pulse_accept',
    title: 'Accept changed checks',
    description:
      'A session that is blocked with checks_changed: the completion stands, with its changed checks. Only on a person’s word.',
  },
});

export const reject = define({
  name: 'reject',
  summary: 'Reject a completion that changed the checks; the next run is told why.',
  access: 'person',
  fields: {
    sessionId,
    text: required(
      text(LONG_TEXT, {
        help: 'What the agent should do instead.',
        argument: 'TEXT',
        pattern: SAYS_SOMETHING,
      }),
    ),
  },
  runsSession: () => true,
  http: post('/api/pulse/{id}/reject', 'The claim is rejected, and the session runs again.'),
  tool: {
    name: 'pulse_reject',
    title: 'Reject changed checks',
    description:
      'A session that is blocked with checks_changed: the completion does not stand, and the next run is told why. Only on a person’s word.',
  },
});

export const showChecks = define({
  name: 'checks',
  summary: 'Show how the newest claim was judged: what it changed of the checks, and why.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/pulse/{id}/checks', 'The newest judgement, with the diff of the checks alone.'),
});

export const abort = define({
  name: 'abort',
  summary: 'End a session for good; its branch stays.',
  access: 'change',
  fields: { sessionId },
  http: post('/api/pulse/{id}/abort', 'The session is aborted.'),
  tool: {
    name: 'pulse_abort',
    title: 'Abort a session',
    description: 'End a session for good: its agent is stopped at once. Its branch stays.',
    isDestructive: true,
    isIdempotent: true,
  },
});

export const verify = define({
  name: 'verify',
  summary: 'Run the verification again: is the evidence still true?',
  access: 'change',
  fields: { sessionId },
});

export const askVerification = define({
  name: 'ask for verification',
  summary: 'Run the verification again, beside the request.',
  access: 'change',
  fields: { sessionId },
  isOfProject: true,
  http: post('/api/pulse/{id}/verify', 'The job that runs it; `GET /api/jobs/{id}` has its result.'),
});

export const showJob = define({
  name: 'show job',
  summary: 'Show work that was asked for beside a request.',
  access: 'read',
  fields: {
    jobId: required(
      text(40, {
        help: 'Its id.',
        pathName: 'id',
        pattern: { matches: /^job_[0-9a-f-]{36}$/, says: 'must be the id of a job' },
      }),
    ),
  },
  http: get('/api/jobs/{id}', 'The job; `answer` is there when it is done, `error` when it failed.'),
});

export const exportSession = define({
  name: 'export',
  summary: 'Write everything about a session: a report to read, or JSON.',
  access: 'read',
  fields: { sessionId },
});
