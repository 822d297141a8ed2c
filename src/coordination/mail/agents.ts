/** `mail_agents`: who can be written to in a project. */
import { PulseError } from '../../domain/errors.ts';
import type { IdSource } from '../../domain/ids.ts';
import { type Db, storeNow } from '../../store/store.ts';
import { MOST_IN_AGENT_NAME } from '../bounds.ts';
import { withCoordinationTables } from '../tables.ts';

/** Can stand in a subject, in the name of a file and in a command. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]*$/u;
const COLOURS = [
  'Amber',
  'Blue',
  'Coral',
  'Crimson',
  'Golden',
  'Green',
  'Grey',
  'Indigo',
  'Ivory',
  'Jade',
  'Lilac',
  'Olive',
  'Rose',
  'Ruby',
  'Silver',
  'Teal',
];
const ANIMALS = [
  'Badger',
  'Beaver',
  'Crane',
  'Finch',
  'Fox',
  'Hare',
  'Heron',
  'Ibex',
  'Lynx',
  'Marten',
  'Otter',
  'Owl',
  'Raven',
  'Robin',
  'Stork',
  'Wolf',
];

export interface Registration {
  project: string;
  /** Where it is taken another is given: `Fox-2`. Without it one is made up. */
  name?: string;
  ids: IdSource;
}

/** A name that nobody else of the project has, from now on. */
export async function registerAgent(db: Db, { project, name, ids }: Registration): Promise<{ name: string }> {
  const wanted = name === undefined ? madeUpName(ids) : readName(asName(name));
  // One round unless another registers the same name in this moment.
  for (let round = 0; round < 100; round++) {
    const free = await freeName(db, project, wanted);
    if (await insertAgent(db, project, free)) return { name: free };
  }
  throw new PulseError('store_busy', `No free name like ${wanted} was found.`, { retryable: true });
}

/** For who keeps a name over several lives: it is the same one each time. */
export async function ensureAgent(db: Db, project: string, name: string): Promise<void> {
  await insertAgent(db, project, readName(name));
}

/** Throws `not_found` and names all that are unknown. */
export async function requireAgents(db: Db, project: string, names: readonly string[]): Promise<void> {
  const known = await withCoordinationTables(db)
    .selectFrom('mail_agents')
    .select('name')
    .where('project_id', '=', project)
    .where('name', 'in', names)
    .execute();
  const unknown = names.filter((name) => !known.some((agent) => agent.name === name));
  if (unknown.length === 0) return;
  const listed = [...new Set(unknown)].map((name) => name.slice(0, MOST_IN_AGENT_NAME)).join(', ');
  throw new PulseError('not_found', `There is no agent ${listed} in this project.`, {
    hint: 'Nothing was sent. pulse mail register NAME makes a name known.',
    data: { unknown },
  });
}

/** The projects in which somebody has this name. */
export async function projectsOfAgent(db: Db, name: string): Promise<string[]> {
  const rows = await withCoordinationTables(db)
    .selectFrom('mail_agents')
    .select('project_id')
    .where('name', '=', name)
    .limit(2)
    .execute();
  return rows.map(({ project_id }) => project_id);
}

/** The nearest that can be a name: `Blue Fox` is `Blue-Fox`. */
function asName(given: string): string {
  const plain = given.trim().replaceAll(/[^\p{L}\p{N}\p{M}._-]+/gu, '-');
  return plain.replace(/^[^\p{L}\p{N}]+/u, '').slice(0, MOST_IN_AGENT_NAME) || given;
}

/** Throws `invalid_input` for what can be no name. */
function readName(given: string): string {
  const name = given.trim().normalize('NFC');
  if (name.length <= MOST_IN_AGENT_NAME && NAME.test(name)) return name;
  throw new PulseError('invalid_input', `"${given.slice(0, MOST_IN_AGENT_NAME)}" is no name for an agent.`, {
    hint: `A name has letters, digits, . _ and -, begins with one of the first two, and has at most ${MOST_IN_AGENT_NAME}.`,
  });
}

async function insertAgent(db: Db, project: string, name: string): Promise<boolean> {
  const row = await withCoordinationTables(db)
    .insertInto('mail_agents')
    .values({ project_id: project, name, registered_at: storeNow() })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** By lists of names, not by their beginning: databases sort signs differently. */
async function freeName(db: Db, project: string, wanted: string): Promise<string> {
  const stem = wanted.slice(0, MOST_IN_AGENT_NAME - 6);
  for (let from = 1; ; from += AT_ONCE) {
    const offered = Array.from({ length: AT_ONCE }, (_, index) =>
      from + index === 1 ? wanted : `${stem}-${from + index}`,
    );
    const rows = await withCoordinationTables(db)
      .selectFrom('mail_agents')
      .select('name')
      .where('project_id', '=', project)
      .where('name', 'in', offered)
      .execute();
    const free = offered.find((name) => !rows.some((row) => row.name === name));
    if (free !== undefined) return free;
  }
}

const AT_ONCE = 50;

function madeUpName({ randomBytes }: IdSource): string {
  const [colour = 0, animal = 0] = randomBytes(2);
  return `${COLOURS[colour % COLOURS.length]}${ANIMALS[animal % ANIMALS.length]}`;
}
