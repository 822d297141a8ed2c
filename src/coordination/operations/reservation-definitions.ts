/** What can be done with the reservations of a project. */
import { duration, flag, id, required, text, texts } from '../../operations/fields.ts';
import { define, get, post } from '../../operations/operation.ts';
import { MOST_IN_AGENT_NAME, MOST_IN_REASON } from '../bounds.ts';
import { agent_name, listedProject, project_key } from './fields.ts';

/** An absolute one is made relative. */
const LONGEST_PATH = 4_096;
const paths = texts(LONGEST_PATH, {
  help: 'Files of the repository, or patterns: * ? [a] [!a] {a,b} **.',
});

export const reserve = define({
  name: 'reserve',
  summary: 'Keep files for an agent for a while: all of them, or none.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key,
    agent_name,
    paths: required(paths),
    exclusive: flag({
      help: 'Nobody else may reserve them (yes); else others may share them.',
      switches: {
        exclusive: 'Nobody else may reserve them (the default).',
        shared: 'Others may share them.',
      },
    }),
    ttl: duration({ help: 'For how long (1h; at most 7 days).', option: 'ttl D' }),
    reason: text(MOST_IN_REASON, { help: 'What for.', option: 'reason TEXT' }),
    force: flag({
      help: 'Take what stands in the way from its holders.',
      option: 'force',
      personValues: [true],
    }),
  },
  http: post('/api/reservations', 'What was granted, or what stands in the way.', { status: 200 }),
  tool: {
    name: 'file_reservation_paths',
    title: 'Reserve files',
    description:
      'Keep files of a project for an agent: all of them, or none where another holds some. Asking again renews them.',
  },
});

export const release = define({
  name: 'release',
  summary: 'Give back what an agent has reserved.',
  access: 'person',
  isOfProject: true,
  fields: {
    project_key,
    agent_name,
    paths: { ...paths, help: 'As they were reserved; without them all of the agent’s.' },
  },
  http: post('/api/reservations/release', 'What was given back.', { status: 200 }),
  tool: {
    name: 'release_file_reservations',
    title: 'Release reservations',
    description: 'Give back what an agent has reserved: these paths, or all.',
    isIdempotent: true,
  },
});

export const list = define({
  name: 'reserve list',
  summary: 'Show who has reserved what.',
  access: 'read',
  fields: {
    project_key: listedProject,
    agent_name: text(MOST_IN_AGENT_NAME, { help: 'Only those of this agent.' }),
  },
  http: get('/api/reservations', 'Those that count now.'),
  tool: {
    name: 'list_file_reservations',
    title: 'List reservations',
    description: 'Who has reserved which files of a project, and until when.',
  },
});

export const end = define({
  name: 'reserve end',
  summary: 'End a reservation, no matter whose it is.',
  access: 'person',
  isOfProject: true,
  fields: { reservation_id: required(id(100, { help: 'Which reservation.', pathName: 'id' })) },
  http: { method: 'delete', path: '/api/reservations/{id}', says: 'It has ended.', status: 200 },
});
