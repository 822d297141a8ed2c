/** What can be done with a swarm: workers that execute the beads of an epic. */
import { flag, integer, required, text } from '../../../operations/fields.ts';
import { define, get, post } from '../../../operations/operation.ts';
import { projectPath, sessionId, startFields, waitSeconds } from '../../../operations/session/fields.ts';

const MOST_WORKERS = 16;

export const start = define({
  name: 'swarm start',
  summary: 'Start workers on the beads of an epic.',
  access: 'change',
  fields: {
    path: projectPath,
    epic: required(text(200, { help: 'The id of the epic.', option: 'epic E' })),
    workers: integer(
      { min: 1, max: MOST_WORKERS },
      { help: 'So many work at once, each in a worktree of its own (2).', option: 'workers N' },
    ),
    standalone: flag({
      help: 'One worker alone: no mail, each bead goes straight onto the branch.',
      option: 'standalone',
    }),
    coordinator: text(100, { help: 'Who gets the workers’ mail (coordinator).', option: 'coordinator NAME' }),
    hint: text(200, { help: 'A bead that is tried first, if it could be next.', option: 'hint BEAD' }),
    ...startFields,
  },
  runsSession: () => true,
  http: post('/api/swarms', 'The swarm is admitted.', { status: 201 }),
  tool: {
    name: 'pulse_swarm_start',
    title: 'Start a swarm',
    description:
      'Start workers on the beads of an epic: each takes the next bead, reserves its files, works, is verified and ' +
      'merged, one after the other. Returns at once with the session id.',
  },
});

export const show = define({
  name: 'swarm show',
  summary: 'Show a swarm: its workers, and what became of each bead.',
  access: 'read',
  fields: { sessionId, waitSeconds },
  http: get('/api/swarms/{id}', 'The swarm.'),
  tool: {
    name: 'pulse_swarm_show',
    title: 'Show a swarm',
    description: 'The state of a swarm: its workers, the beads that were taken, those that are open.',
  },
});

export const stop = define({
  name: 'swarm stop',
  summary: 'End the workers now; what they have is kept, and the swarm is paused.',
  access: 'change',
  fields: { sessionId },
  http: post('/api/swarms/{id}/stop', 'The stop is asked for.'),
  tool: {
    name: 'pulse_swarm_stop',
    title: 'Stop a swarm',
    description: 'End the workers now; their reservations are released, and the session is paused.',
    isIdempotent: true,
  },
});

export const queue = define({
  name: 'swarm queue',
  summary: 'Show the beads that wait to be merged, in their order.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/swarms/{id}/queue', 'What waits, oldest first.'),
  tool: {
    name: 'pulse_swarm_queue',
    title: 'Show what waits to be merged',
    description:
      'The beads of a swarm that are done and wait to be merged, oldest first; which of them need a person.',
  },
});

export const handoffs = define({
  name: 'swarm handoffs',
  summary: 'Show what workers that paused have left to be resumed.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/swarms/{id}/handoffs', 'Those that wait, by owner.'),
  tool: {
    name: 'pulse_swarm_handoffs',
    title: 'Show handoffs',
    description:
      'What workers of a swarm that paused have left to be resumed, by owner, and what comes next in each.',
  },
});

const owner = (help: string, option: string) => required(text(200, { help, option }));

export const reassign = define({
  name: 'swarm reassign',
  summary: 'Give what one worker left to another; it is recorded in both handoffs and in the manifest.',
  access: 'person',
  fields: {
    sessionId,
    from: owner('Whose handoff: the owner, such as worker-worker-1 or single-worker.', 'from OWNER'),
    to: owner('Who resumes it instead.', 'to OWNER'),
    reason: text(1_000, { help: 'Why (Reassigned by a person).', option: 'reason R' }),
  },
  http: post('/api/swarms/{id}/handoffs/reassign', 'The handoff under its new owner.', { status: 200 }),
  tool: {
    name: 'pulse_swarm_reassign',
    title: 'Reassign a handoff',
    description: 'Give what one worker left to be resumed to another. Only on a person’s word.',
    isIdempotent: true,
  },
});
