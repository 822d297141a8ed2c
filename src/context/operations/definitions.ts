/** What can be asked of a project's turns and its code. */
import { id, integer, required, text, texts } from '../../operations/fields.ts';
import { define, get, post } from '../../operations/operation.ts';

const project_key = required(
  text(4096, { help: 'The project: a folder of its repository, or its id.', option: 'path DIR' }),
);

/** Of a longer query the beginning is asked, and an empty one finds nothing: words are never refused. */
const query = (help: string) => required({ ...text(1_000_000, { help }), min: 0 });

export const importTurns = define({
  name: 'context import',
  summary: 'Read transcripts of Claude Code and Codex into the project’s turns.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key: required({ ...project_key, isRequired: false, help: 'A folder of the repository.' }),
    paths: texts(4096, {
      help: 'Files and folders, as absolute paths; none: what both agents keep of this repository.',
    }),
  },
  http: post('/api/context/import', 'What was read.', { status: 200 }),
});

export const listTurns = define({
  name: 'context turns',
  summary: 'List the turns of a project, oldest first.',
  access: 'read',
  fields: {
    project_key,
    limit: integer({ min: 1, max: 10_000 }, { help: 'At most so many (1000).', on: ['http', 'mcp'] }),
    cursor: text(140, { help: 'Where the page before ended.', on: ['http', 'mcp'] }),
  },
  http: get('/api/context/turns', 'A page of them.', { defaults: { limit: 1_000 } }),
});

export const searchTurns = define({
  name: 'context search',
  summary: 'Find turns of a project by words and by what they are about.',
  access: 'read',
  fields: {
    project_key,
    query: query('Words; nothing in them is syntax. The first 10,000 letters count.'),
    limit: integer({ min: 1, max: 100 }, { help: 'At most so many (20).', on: ['http', 'mcp'] }),
  },
  http: get('/api/context/search', 'The turns, best first.'),
  tool: {
    name: 'pulse_context_search',
    title: 'Search what was said',
    description: 'Turns of a project’s history that help with these words, best first.',
  },
});

export const searchCode = define({
  name: 'context code',
  summary: 'Find the places in the code that are about something.',
  access: 'read',
  fields: {
    project_key: required(
      text(4096, { help: 'A folder of the checkout, as an absolute path.', option: 'path DIR' }),
    ),
    query: query('Words, or a question; nothing in them is syntax. The first 1,000 letters count.'),
    limit: integer({ min: 1, max: 50 }, { help: 'At most so many (10).', on: ['http', 'mcp'] }),
    wait_ms: integer(
      { min: 0, max: 60_000 },
      { help: 'How long an index that is not ready may work before it answers (500).', on: ['http', 'mcp'] },
    ),
  },
  http: get('/api/context/code', 'The places, best first, and how much the index knew.'),
});

export const createSlice = define({
  name: 'context slice',
  summary: 'The turns that belong to an anchor.',
  access: 'read',
  fields: {
    turn_id: required(id(100, { help: 'The anchor.', pathName: 'id' })),
    project_key,
    policy: text(60, { help: 'Which turns are preferred (default).', option: 'policy ID' }),
  },
  http: get('/api/context/slices/{id}', 'The slice.'),
});

export const createSlices = define({
  name: 'context slices',
  summary: 'The slices of several anchors, in one snapshot.',
  access: 'read',
  fields: {
    project_key,
    turn_ids: required(texts(100, { help: 'The anchors.' })),
    policy: text(60, { help: 'Which turns are preferred (default).' }),
  },
});

export const showTurn = define({
  name: 'context turn',
  summary: 'Show a turn with what was said.',
  access: 'read',
  fields: {
    turn_id: required(id(100, { help: 'The turn.', pathName: 'id' })),
    project_key: text(4096, {
      help: 'Its project: a folder of the repository, or its id (the only one that has it).',
    }),
  },
  http: get('/api/turns/{id}', 'The turn.'),
  tool: {
    name: 'pulse_context_turn',
    title: 'Read a turn',
    description: 'A turn of a project’s history, with what was said.',
  },
});
