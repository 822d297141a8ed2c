import { answeringOperation } from '../../../operations/operation.ts';
import { startedText } from '../../../operations/session/tool-text.ts';
import { StartAnswer } from '../../../operations/session/view-schema.ts';
import { startSession } from '../../../operations/start.ts';
import { start } from './definitions.ts';

export const GOAL_INSTRUCTIONS =
  'pulse_start returns at once; follow with pulse_status {sessionId, waitSeconds}. A blocked session needs a person: ' +
  'ask them, then pulse_resume with their answer.';

export const goalOperations = {
  start: answeringOperation(start, {
    run: (operations, { within, ...input }) => startSession(operations, input, { within }),
    view: StartAnswer,
    answer: (session) => ({ sessionId: session.id, session }),
    tell: (started) => startedText(started, 'pulse_status, with waitSeconds'),
  }),
};
