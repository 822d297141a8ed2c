/** What the countdown contributes to the table: it is started, and nothing else. */
import { flag, integer, required } from '../../../src/operations/fields.ts';
import { answeringOperation, define, post } from '../../../src/operations/operation.ts';
import { projectPath, startFields } from '../../../src/operations/session/fields.ts';
import { startedText } from '../../../src/operations/session/tool-text.ts';
import { StartAnswer } from '../../../src/operations/session/view-schema.ts';
import { startSession } from '../../../src/operations/start.ts';
import { insertCountdown } from './rows.ts';

export const startCountdown = answeringOperation(
  define({
    name: 'countdown start',
    summary: 'Count down.',
    access: 'change',
    fields: {
      path: projectPath,
      ...startFields,
      from: required(integer({ min: 1, max: 10 }, { help: 'The first number.', option: 'from N' })),
      hasHelper: flag({ help: 'Somebody else is to count as well.', option: 'has-helper' }),
    },
    runsSession: () => true,
    http: post('/api/countdown', 'It is admitted.', { status: 201 }),
    tool: { name: 'pulse_countdown_start', title: 'Count down', description: 'Start a countdown.' },
  }),
  {
    run: (operations, { from, hasHelper = false, within, ...input }) =>
      startSession(
        operations,
        { ...input, kind: 'countdown', goal: 'Count down' },
        {
          async within(db, sessionId) {
            await insertCountdown(db, { sessionId, from, hasHelper });
            await within?.(db, sessionId);
          },
        },
      ),
    view: StartAnswer,
    answer: (session) => ({ sessionId: session.id, session }),
    tell: (started) => startedText(started, 'pulse_status'),
  },
);
