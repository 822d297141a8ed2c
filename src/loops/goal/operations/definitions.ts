/** What can be done with the goal loop alone. */
import { CONTEXT_STRATEGIES } from '../../../domain/context-words.ts';
import { choice, flag, required, text } from '../../../operations/fields.ts';
import { define, post } from '../../../operations/operation.ts';
import {
  maxIterations,
  projectPath,
  refereeFields,
  SAYS_SOMETHING,
  setup,
  startFields,
  verify,
} from '../../../operations/session/fields.ts';

/** Longer than a goal may be, so that the error can say by how much it is too long. */
const READ_LENGTH = 1024 * 1024;

export const start = define({
  name: 'start',
  summary: 'Start a session that works towards a goal.',
  access: 'change',
  fields: {
    path: projectPath,
    goal: required(
      text(READ_LENGTH, { help: 'What should be done.', argument: 'GOAL', pattern: SAYS_SOMETHING }),
    ),
    issue: text(2_000, {
      help: 'An issue of GitHub whose text is the goal, read through gh: its number here, or its address.',
      option: 'issue N|URL',
    }),
    from: text(4_096, {
      help: 'Read the goal from this file (- is standard input).',
      option: 'from FILE',
      on: ['cli'],
    }),
    comment: flag({ help: 'Say on the issue that the session is complete.', option: 'comment' }),
    ...startFields,
    verify,
    setup: { ...setup, on: ['cli', 'http'] },
    ...refereeFields,
    maxIterations,
    contextStrategy: choice(CONTEXT_STRATEGIES, {
      help: 'How earlier turns reach the agent.',
      option: 'context HOW',
    }),
    anchorTurnId: text(100, { help: 'Begin the context at this turn.', option: 'anchor TURN' }),
  },
  runsSession: () => true,
  http: post('/api/pulse/start', 'The session is admitted.', { status: 201 }),
  tool: {
    name: 'pulse_start',
    title: 'Start a session',
    description:
      'Start a session: an agent works towards the goal in the background, on its own branch, one iteration after ' +
      'the other, until it is done and the verify commands agree. Returns at once with the session id.',
  },
});
