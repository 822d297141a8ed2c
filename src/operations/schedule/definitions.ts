/** What can be done with what starts by itself. */
import { choice, flag, object, required, text, texts } from '../fields.ts';
import { define, get, post } from '../operation.ts';

export const addSchedule = define({
  name: 'schedule add',
  summary: 'Plan a start: by a cron expression, "in 2h" or "at 22:00".',
  access: 'person',
  fields: {
    when: required(text(200, { help: 'A cron expression, "in 2h" or "at 22:00".' })),
    zone: text(100, { help: 'The time zone, such as Europe/Berlin (this machine’s).', option: 'zone ZONE' }),
    missed: choice(['run', 'skip'], {
      help: 'A time at which no serve was there: run it once, later, or skip it (once: run, cron: skip).',
      option: 'missed HOW',
    }),
    operation: required(
      text(100, { help: 'What is started: start, workflow start, research start or swarm start.' }),
    ),
    input: required(object<unknown>({ help: 'What it takes.' })),
    words: texts(10_000, { help: 'The same as it was written on the command line.' }),
  },
});

/** As `schedule add`, by the body that HTTP would take for the start. */
export const planStart = define({
  name: 'schedule plan',
  summary: 'Plan a start: by a cron expression, "in 2h" or "at 22:00". What is wrong with it is said now.',
  access: 'person',
  isOfProject: true,
  fields: {
    when: required(text(200, { help: 'A cron expression, "in 2h" or "at 22:00".' })),
    zone: text(100, { help: 'The time zone, such as Europe/Berlin (this machine’s).' }),
    missed: choice(['run', 'skip'], {
      help: 'A time at which no serve was there: run it once, later, or skip it (once: run, cron: skip).',
    }),
    kind: required(choice(['goal', 'workflow', 'research', 'swarm'], { help: 'Which loop is to start.' })),
    input: required(object<Record<string, unknown>>({ help: 'The body of the start.' })),
  },
  http: post('/api/schedules', 'The schedule.', { status: 201 }),
});

export const listSchedules = define({
  name: 'schedule list',
  summary: 'List what starts by itself, what comes next first; what is over for a day.',
  access: 'read',
  fields: { all: flag({ help: 'Also those that were over more than a day ago.', option: 'all' }) },
  http: get('/api/schedules', 'The schedules.'),
});

export const removeSchedule = define({
  name: 'schedule remove',
  summary: 'Take a planned start back.',
  access: 'person',
  isOfProject: true,
  fields: {
    scheduleId: required(
      text(40, { help: 'Its id, or four or more characters of its end.', pathName: 'id' }),
    ),
  },
  http: { method: 'delete', path: '/api/schedules/{id}', says: 'The schedule that was there.', status: 200 },
});
