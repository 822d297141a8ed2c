/** A project's turns, as operations read and fill them. */
import { PulseError } from '../../domain/errors.ts';
import type { Operations } from '../../operations/context.ts';
import type { InputOf } from '../../operations/fields.ts';
import { findProject } from '../../operations/named-project.ts';
import type { CallerOptions } from '../../operations/operation.ts';
import { changeProject } from '../../operations/project-change.ts';
import {
  findTurn,
  listTurnHeads,
  projectsOfTurn,
  type StoredTurn,
  type TurnHead,
} from '../../store/turns.ts';
import { type Imported, importTranscripts } from '../import/import-transcripts.ts';
import { indexTurns } from '../search/index-turns.ts';
import type * as definitions from './definitions.ts';

/** When a command is over, nobody places turns. */
const EMBEDDED_MS = 20_000;

type Input<K extends keyof typeof definitions> = InputOf<(typeof definitions)[K]['fields']>;

export async function importTurns(
  operations: Operations,
  { project_key, paths = [], keep }: Input<'importTurns'> & Pick<CallerOptions, 'keep'>,
): Promise<Imported> {
  const { engine, environment, meaning, redactor } = operations;
  const { id: projectId, root } = await findProject(operations, project_key);
  if (root === undefined)
    throw new PulseError('usage', 'The transcripts of a project are found by a folder of its repository.', {
      hint: 'Name the folder instead of the id.',
    });
  const request = { projectId, root, paths, environment, redact: redactor.redact };
  const imported = await importTranscripts(engine.store, request);
  // What is left out here by a crash, the next search makes up for.
  await indexTurns(engine.store, projectId);
  await meaning.embeddings?.catchUp(engine.store, projectId, EMBEDDED_MS);
  // Reading again adds nothing, so that the answer may be kept after the turns.
  return changeProject(operations, { label: 'import', keep }, async () => imported);
}

export interface TurnPage {
  turns: TurnHead[];
  nextCursor: string | null;
}

export async function listTurns(
  operations: Operations,
  { project_key, limit, cursor }: Input<'listTurns'>,
): Promise<TurnPage> {
  const { id: projectId } = await findProject(operations, project_key);
  const after = cursor === undefined ? null : readCursor(cursor);
  const found = await operations.engine.store.read((db) => listTurnHeads(db, { projectId, after, limit }), {
    hasNoSnapshot: true,
  });
  const last = found.at(-1);
  const isFull = limit !== undefined && found.length === limit && last !== undefined;
  return { turns: found, nextCursor: isFull ? `${last.created_at}_${last.id}` : null };
}

function readCursor(cursor: string): { createdAt: string; id: string } {
  const [, createdAt, id] = /^([\dT:.Z-]{20,30})_([\w-]{1,100})$/.exec(cursor) ?? [];
  if (createdAt === undefined || id === undefined)
    throw new PulseError('invalid_input', 'The cursor is none that a page has given.');
  return { createdAt, id };
}

export async function showTurn(
  operations: Operations,
  { turn_id, project_key }: Input<'showTurn'>,
): Promise<{ turn: StoredTurn }> {
  const { engine, redactor } = operations;
  const named = project_key === undefined ? null : (await findProject(operations, project_key)).id;
  const turn = await engine.store.read(async (db) => {
    const [only, another] = named === null ? await projectsOfTurn(db, turn_id) : [named];
    if (another !== undefined)
      throw new PulseError('invalid_input', 'More than one project has this turn.', {
        hint: 'Say which: project_key.',
      });
    return only === undefined ? null : findTurn(db, only, turn_id);
  });
  if (!turn) throw unknownTurn(turn_id);
  return { turn: redactor.redactJson(turn) };
}

export function unknownTurn(id: string): PulseError {
  return new PulseError('not_found', `There is no turn ${id.slice(0, 64)} in this project.`, {
    hint: 'pulse context turns lists them.',
  });
}
