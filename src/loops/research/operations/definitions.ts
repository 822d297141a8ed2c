/** What can be done with research. */
import { MOST_ITERATIONS } from '../../../domain/bounds.ts';
import { diffFields } from '../../../operations/dashboard/definitions.ts';
import { choice, flag, integer, object, required, text } from '../../../operations/fields.ts';
import { define, get, post } from '../../../operations/operation.ts';
import { projectPath, sessionId, startFields, waitSeconds } from '../../../operations/session/fields.ts';

const MOST_WORKERS = 16;

export const start = define({
  name: 'research start',
  summary: 'Start research from what a research.yaml holds.',
  access: 'change',
  fields: {
    path: projectPath,
    content: required(
      object({
        help: 'What a research.yaml holds: the goal, the metric and the command that prints it, what may be changed. Its text does, too (YAML or JSON).',
        wire: 'research',
      }),
    ),
    iterations: integer(
      { min: 1, max: 1_000_000 },
      { help: 'Stop after so many experiments; wins over the file’s.', option: 'iterations N' },
    ),
    parallel: integer(
      { min: 1, max: 16 },
      {
        help: 'So many sessions edit at once; measuring is one after the other (1).',
        option: 'parallel N',
      },
    ),
    ...startFields,
  },
  runsSession: () => true,
  http: post('/api/research', 'The research is admitted.', { status: 201 }),
  tool: {
    name: 'pulse_research_start',
    title: 'Start research',
    description:
      'Push a metric: an agent tries one small change after the other, Pulse measures each and keeps only what truly ' +
      'helps. Returns at once with the session id.',
  },
});

export const show = define({
  name: 'research show',
  summary: 'Show research: its baseline, its experiments with their readings, the best so far.',
  access: 'read',
  fields: { sessionId, waitSeconds },
  http: get('/api/research/{id}', 'The research.'),
  tool: {
    name: 'pulse_research_show',
    title: 'Show research',
    description: 'The state of research: baseline, experiments, the best so far, and what to do next.',
  },
});

export const experiments = define({
  name: 'research experiments',
  summary: 'List experiments, oldest first.',
  access: 'read',
  fields: {
    sessionId,
    after: integer({ min: 0, max: MOST_ITERATIONS }, { help: 'Only those with a higher number.' }),
    limit: integer({ min: 1, max: 500 }, { help: 'At most so many (100).' }),
  },
  http: get('/api/research/{id}/experiments', 'A page; `nextAfter` is null on the last one.'),
});

export const experimentDiff = define({
  name: 'research experiment diff',
  summary: 'Show what an experiment has changed, file by file.',
  access: 'read',
  fields: {
    sessionId,
    number: required(integer({ min: 0, max: MOST_ITERATIONS }, { help: 'Its number.', pathName: 'n' })),
    ...diffFields,
  },
  http: get(
    '/api/research/{id}/experiments/{n}/diff',
    'The changed files with their patches, within bounds.',
  ),
});

/** For what draws it while it runs. */
export const rows = define({
  name: 'research rows',
  summary: 'Read the rows of research as they are stored.',
  access: 'read',
  fields: { sessionId },
});

export const report = define({
  name: 'research report',
  summary: 'Show its report as one HTML page.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/research/{id}/report', 'The page.', { contentType: 'text/html' }),
  tool: {
    name: 'pulse_research_report',
    title: 'Read the report of research',
    description:
      'The report as one HTML page: results with plot, plan and reality, kept changes, what did not work.',
  },
});

export const finish = define({
  name: 'research finish',
  summary: 'Say what becomes of the findings; the session itself does not change.',
  access: 'person',
  fields: {
    sessionId,
    how: required(
      choice(['implement', 'pause', 'done'], {
        help: 'implement: beads of the next steps, and a swarm for them; pause: leave it for later; done: close it.',
        switches: {
          implement: 'make beads of the next steps, and start a swarm for them.',
          pause: 'it is left for later.',
          done: 'it is complete.',
        },
      }),
    ),
    workers: integer(
      { min: 1, max: MOST_WORKERS },
      { help: 'With implement: so many work at once (1).', option: 'workers N' },
    ),
    trust: flag({
      help: 'With implement: believe what the repository’s own config says.',
      option: 'trust',
      personValues: [true],
    }),
  },
  http: post('/api/research/{id}/finish', 'It is written down.'),
  tool: {
    name: 'pulse_research_finish',
    title: 'Finish research',
    description:
      'What becomes of the findings: beads of the next steps and a swarm for them (implement), left for later (pause), closed (done). The ' +
      'session itself does not change. Only on a person’s word.',
  },
});

export const writeReport = define({
  name: 'research write report',
  summary: 'Write its report beside its other files.',
  access: 'change',
  fields: {
    sessionId,
    title: text(500, { help: 'Instead of "Autoresearch Complete: <goal>".' }),
    summary: text(20_000, { help: 'What you want to say at the top of it.' }),
  },
  tool: {
    name: 'show_report',
    title: 'Show the report of research',
    description:
      'Write the report as an HTML file beside the session’s other files and say where it is. Does not wait for anybody.',
    isIdempotent: true,
  },
});

export const listTasks = define({
  name: 'research tasks',
  summary: 'Show its tasks at the commander, one for each experiment, with their comments.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/research/{id}/tasks', 'The tasks, oldest first.'),
});

export const listMessages = define({
  name: 'research messages',
  summary: 'Show what it sent to the commander: every five experiments its status, at the end the result.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/research/{id}/mailbox', 'The messages, oldest first.'),
});
