/** What can be done with the goal loop alone. */
import { choice, required, text } from '../../../operations/fields.ts';
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
    ...startFields,
    verify,
    setup: { ...setup, on: ['cli'] },
    ...refereeFields,
    maxIterations,
    contextStrategy: choice(['none', 'prefetch', 'mcp', 'hybrid'], {
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
