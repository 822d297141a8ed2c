/** What can be done with beads. */
import { choice, flag, id, integer, object, required, text, texts } from '../../../operations/fields.ts';
import { define, get, post } from '../../../operations/operation.ts';
import {
  LONG_TEXT,
  projectPath,
  SAYS_SOMETHING,
  sessionId,
  startFields,
  waitSeconds,
} from '../../../operations/session/fields.ts';
import { IMPORT_FORMATS } from '../exchange/formats.ts';
import { type Check, GIVEN_STATUSES, MOST_PRIORITY, type TddSteps, TESTING_MODES } from '../graph/bead.ts';

const project_key = text(4096, {
  help: 'The project: a folder of its repository, or its id (here; over HTTP the only one that has it).',
  option: 'path DIR',
});
const beadId = required(id(200, { help: 'Which bead.', wire: 'id', pathName: 'id', argument: 'WHAT' }));
const epic = text(200, { help: 'The id of the epic.', option: 'epic E' });

/** What a bead is made of. */
const content = {
  type: text(100, { help: 'task, bug, feature, docs, chore, test or epic (task).', option: 'type T' }),
  priority: integer(
    { min: 0, max: MOST_PRIORITY },
    { help: '0 is the most urgent (2).', option: 'priority 0..4' },
  ),
  epic: { ...epic, help: 'The id of the epic it belongs to.' },
  feature: text(100, {
    help: 'Of an epic: the name of its folder in history (its title as a name).',
    option: 'feature NAME',
  }),
  body: text(256 * 1024, { help: 'What is to be done, as Markdown.', option: 'body TEXT' }),
  labels: texts(100, { help: 'A label.', option: 'label L' }),
  dependencies: texts(200, { help: 'The id of a bead that must be closed first.', option: 'dep ID' }),
  files: texts(1024, { help: 'A file that may be changed, or a pattern in quotes.', option: 'file F' }),
  verify: object<(string | Check)[]>({
    help: 'Commands that must pass: `{command, expect?}`; expect is a text, /a pattern/ or exit N.',
    on: ['http', 'mcp'],
  }),
  verification_evidence: text(1024, {
    help: 'Where the evidence is written (history/<feature>/verification/<id>.md).',
    option: 'evidence F',
  }),
  testing_mode: choice(TESTING_MODES, {
    help: 'standard or tdd-required (standard).',
    option: 'testing-mode M',
  }),
  tdd_steps: object<TddSteps>({
    help: 'Of tdd-required: the command that must fail first, and the one that must pass then: `{red, green, expect?}`.',
    on: ['http', 'mcp'],
  }),
  decision_refs: texts(200, { help: 'A decision that it must keep to, such as D1.', option: 'decision D' }),
  learning_refs: texts(1024, { help: 'A file of learnings that its worker reads.', option: 'learning F' }),
  changesChecks: flag({ help: 'Its work is to change what defines the checks.', option: 'changes-checks' }),
};

export const create = define({
  name: 'bead create',
  summary: 'Make a bead: one small piece of work, with its files and the commands that verify it.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key,
    title: required(text(500, { help: 'What it is, in a line.', option: 'title T' })),
    id: text(200, { help: 'Its id (one is made up).', option: 'id ID' }),
    ...content,
  },
  http: post('/api/beads', 'The bead. One that lacks a required field is blocked.', { status: 201 }),
  tool: {
    name: 'pulse_bead_create',
    title: 'Make a bead',
    description:
      'Make a bead in the work graph of a project. Without files and verify commands it is blocked and goes back to ' +
      'planning. Only on a person’s word.',
  },
});

export const list = define({
  name: 'bead list',
  summary: 'Show the beads of a project, oldest first, closed ones too.',
  access: 'read',
  fields: {
    project_key,
    status: text(100, { help: 'Only those with this status.', option: 'status S' }),
    epic: { ...epic, help: 'Only those of this epic.' },
    label: text(100, { help: 'Only those with this label.' }),
  },
  http: get('/api/beads', 'The beads, oldest first.'),
  tool: {
    name: 'pulse_bead_list',
    title: 'List beads',
    description: 'The beads of a project with their status, priority and what they wait for.',
  },
});

export const next = define({
  name: 'bead next',
  summary: 'Show the bead that comes next, and why.',
  access: 'read',
  fields: {
    project_key,
    epic: { ...epic, help: 'Only beads of this epic.' },
    agent_name: text(64, {
      help: 'Whose reservations are no obstacle, by the name in mail.',
      option: 'as NAME',
    }),
    why: flag({ help: 'Say why it comes next, and why others do not.', option: 'why' }),
  },
  http: get('/api/beads/next', 'The bead, or null.'),
  tool: {
    name: 'pulse_bead_next',
    title: 'The next bead',
    description:
      'The bead that comes next: open, with nothing left to wait for, all its fields and free files; by priority, then ' +
      'by how much hangs on it. It is not claimed by asking.',
  },
});

export const graph = define({
  name: 'bead graph',
  summary: 'Show the graph of beads: each with its weight, and what depends on what.',
  access: 'read',
  fields: { project_key, epic: { ...epic, help: 'Only beads of this epic.' } },
  http: get('/api/beads/graph', 'Nodes and edges.'),
  tool: {
    name: 'pulse_bead_graph',
    title: 'The graph of beads',
    description:
      'The beads of a project, or of an epic, with their weight and what depends on what: `edges` go from a bead to what it waits for.',
  },
});

export const show = define({
  name: 'bead show',
  summary: 'Show a bead.',
  access: 'read',
  fields: { project_key, beadId },
  http: get('/api/beads/{id}', 'The bead.'),
  tool: { name: 'pulse_bead_show', title: 'Show a bead', description: 'A bead with all its fields.' },
});

export const update = define({
  name: 'bead update',
  summary: 'Change a bead: what is given replaces what it has.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key,
    beadId,
    title: text(500, { help: 'What it is, in a line.', option: 'title T' }),
    status: choice(GIVEN_STATUSES, {
      help: 'open, in_progress or blocked; who worked on it does so no longer.',
      option: 'status S',
    }),
    ...content,
  },
  http: { method: 'patch', path: '/api/beads/{id}', says: 'The bead as it is now.', status: 200 },
  tool: {
    name: 'pulse_bead_update',
    title: 'Change a bead',
    description: 'Change a bead: each field that is given replaces what it has. Only on a person’s word.',
  },
});

export const close = define({
  name: 'bead close',
  summary: 'Close a bead.',
  access: 'person',
  isOfProject: true,
  fields: { project_key, beadId, reason: text(10_000, { help: 'Why (Closed).', option: 'reason R' }) },
  http: post('/api/beads/{id}/close', 'The bead, closed.', { status: 200 }),
  tool: {
    name: 'pulse_bead_close',
    title: 'Close a bead',
    description: 'Close a bead by hand. Only on a person’s word.',
    isIdempotent: true,
  },
});

export const scope = define({
  name: 'bead scope',
  summary: 'Let a bead change more files.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key,
    beadId,
    add: required(
      texts(1024, { help: 'A file that may be changed too, or a pattern in quotes.', option: 'add F' }),
    ),
  },
  http: post('/api/beads/{id}/scope', 'The bead with its files.', { status: 200 }),
  tool: {
    name: 'pulse_bead_scope',
    title: 'Widen a bead',
    description: 'Let a bead change more files. Only on a person’s word.',
    isIdempotent: true,
  },
});

export const importFile = define({
  name: 'bead import',
  summary: 'Import beads from an issue file of br or bd, or from a list of tasks: all of them or none.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key,
    content: required(text(64 * 1024 * 1024, { help: 'What the file holds.', on: ['http', 'mcp'] })),
    file: text(4096, { help: 'Its name, by which its form may be known.', on: ['http', 'mcp'] }),
    format: choice(IMPORT_FORMATS, {
      help: 'Its form: issues, draft, markdown, ralph, task-master or github (by its name and content).',
      option: 'format F',
    }),
  },
  http: post('/api/beads/import', 'What was imported.', { status: 200 }),
  tool: {
    name: 'pulse_bead_import',
    title: 'Import beads',
    description:
      'Import beads from .beads/issues.jsonl, a draft of pulse_bead_plan, a Markdown check list, a prd.json, a tasks.json or gh issue ' +
      'list --json. ' +
      'Only on a person’s word.',
  },
});

export const plan = define({
  name: 'bead plan',
  summary: 'Have an agent draft an epic and its beads for a goal, as a file that a person reads and imports.',
  access: 'change',
  fields: {
    path: projectPath,
    goal: required(
      text(LONG_TEXT, { help: 'What should be true afterwards.', argument: 'WHAT', pattern: SAYS_SOMETHING }),
    ),
    out: text(1024, {
      help: 'The file to write, within the repository; never one that is there (.pulse/plans/<goal>-<id>.yaml).',
      option: 'out FILE',
    }),
    ...startFields,
  },
  runsSession: () => true,
  http: post('/api/beads/plan', 'The drafting is admitted.', { status: 201 }),
  tool: {
    name: 'pulse_bead_plan',
    title: 'Draft beads',
    description:
      'Have an agent draft an epic and its beads for a goal. It writes a file and changes no bead: a person reads it, its ' +
      'commands above all, and imports it. Returns at once with the session id.',
  },
});

export const showPlan = define({
  name: 'bead draft',
  summary: 'Show what was drafted, and the file that it is in.',
  access: 'read',
  fields: { sessionId: { ...sessionId, argument: 'WHAT' }, waitSeconds },
  http: get('/api/beads/plans/{id}', 'The draft, or null while there is none.'),
  tool: {
    name: 'pulse_bead_plan_show',
    title: 'Show drafted beads',
    description:
      'The epic and the beads that an agent has drafted, with every command that they would run, and the file that a ' +
      'person may import.',
  },
});

export const exportFile = define({
  name: 'bead export',
  summary: 'Export all beads as an issue file of br and bd.',
  access: 'read',
  fields: { project_key },
  http: get('/api/beads/export', 'The file: one issue a line.', { contentType: 'application/jsonl' }),
  tool: {
    name: 'pulse_bead_export',
    title: 'Export beads',
    description:
      'All beads of a project as the text of an issue file of br and bd, one issue a line. Writes no file.',
  },
});
