/** What can be asked of this machine, and of everything on it. */
import { FIGURE_KEYS } from '../../domain/figure-keys.ts';
import { TIME } from '../dashboard/time.ts';
import { choice, integer, object, path, required, text, texts } from '../fields.ts';
import { define, get, post } from '../operation.ts';

const repository = path({ help: 'A folder of the repository (none: only what holds everywhere).' });

export const projects = define({
  name: 'projects',
  summary: 'List the projects that have sessions, the last used first.',
  access: 'read',
  fields: {},
  http: get('/api/projects', 'The projects.'),
});

export const agents = define({
  name: 'agents',
  summary: 'List the agents, and whether they can be used here.',
  access: 'read',
  fields: {},
  http: get('/api/agents', 'The agents.'),
});

export const config = define({
  name: 'config',
  summary: 'Show each setting, its value and where it comes from.',
  access: 'read',
  fields: { path: repository },
  http: get('/api/config', 'The settings; of `notify` only the names of its parts.'),
});

export const doctor = define({
  name: 'doctor',
  summary: 'Say what works on this machine, what is missing and how to get it.',
  access: 'read',
  fields: {
    path: repository,
    check: text(10_000, { help: 'Say what protects this check, instead of those of the config.' }),
  },
  http: get('/api/doctor', 'The findings.'),
});

export const collect = define({
  name: 'doctor gc',
  summary: 'Delete kept refs older than 30 days and what attempts have left, and say what works here.',
  access: 'person',
  isOfProject: true,
  fields: { path: repository },
  http: post('/api/doctor/gc', 'The findings; one of them says what was deleted.', { status: 200 }),
});

const MOST_KEY_TEXT = 64 * 1024;

export const verifyCommits = define({
  name: 'verify commits',
  summary: 'Check the signed proofs of a commit, a branch or a range, and run their commands again.',
  access: 'change',
  isOfProject: true,
  fields: {
    path: required(path({ help: 'The git repository.', wire: 'projectPath' })),
    what: required(text(500, { help: 'A commit, a branch, or a range such as main..HEAD.' })),
    base: text(500, { help: 'The branch whose `proof.keys` count (the main branch of origin).' }),
    keys: texts(MOST_KEY_TEXT, { help: 'Public keys, as PEM, that are believed too.' }),
    run: choice(['tip', 'all', 'none'], {
      help: 'Whose commands run again: of the last commit, of each, or of none (tip).',
    }),
  },
  http: post('/api/proofs/verify', 'What the proofs say of each commit.', { status: 200 }),
});

export const daemons = define({
  name: 'daemons',
  summary: 'List the daemons that take attempts.',
  access: 'read',
  fields: {},
  http: get('/api/daemons', 'The daemons.'),
});

export const sums = define({
  name: 'figures',
  summary: 'Add up sessions, commits, money and tokens in a span of time.',
  access: 'read',
  fields: {
    from: text(40, { help: 'From this time on (30 days before).', pattern: TIME }),
    to: text(40, { help: 'Up to this time (now).', pattern: TIME }),
    by: choice(FIGURE_KEYS, { help: 'A row for each of these (day).' }),
  },
  http: get('/api/figures', 'The sums, in all and for each row.'),
});

export const search = define({
  name: 'search',
  summary: 'Search goals, turns, mail, beads and changed files.',
  access: 'read',
  fields: {
    q: required(text(500, { help: 'Words; each must be there.' })),
    in: text(60, { help: 'Where, by commas: goals, turns, mail, beads, files (everywhere).' }),
    project: text(4096, { help: 'Only of this project: a folder of its repository, or its id.' }),
    limit: integer({ min: 1, max: 100 }, { help: 'At most so many of each (20).' }),
  },
  http: get('/api/search', 'A list for each place that was asked for.'),
});

export const check = define({
  name: 'check',
  summary: 'Try a start and undo it: what is wrong with it, and what it would come to. Creates nothing.',
  access: 'change',
  isOfProject: true,
  fields: {
    kind: required(choice(['goal', 'workflow', 'research', 'swarm'], { help: 'Which loop is to start.' })),
    input: required(object<Record<string, unknown>>({ help: 'The body of the start.' })),
  },
  http: post('/api/check', 'What the start would come to.', { status: 200 }),
});
