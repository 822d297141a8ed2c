/** Reads transcripts into a project's turns. Reading them again adds only what is new; a crash in between loses nothing. */
import { basename } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import type { Store } from '../../store/store.ts';
import { insertImported, type TranscriptEntry } from '../../store/turn-parents.ts';
import type { NewTurn } from '../../store/turns.ts';
import { contentHash } from '../turns.ts';
import { createClaudeReader } from './claude-transcript.ts';
import { createCodexReader } from './codex-transcript.ts';
import {
  type FoundFile,
  findNamed,
  findOfRepository,
  recogniseTranscript,
  type Transcript,
} from './find-transcripts.ts';
import { phaseOfWords, salienceOfWords } from './said-turn.ts';
import { type ImportedTurn, isRecord } from './transcript.ts';
import { openTranscript, transcriptLines } from './transcript-lines.ts';

const MOST_TOLD = 1_000;
const MOST_IN_TURN = 200_000;
const PORTION = 200;

export interface Skipped {
  file: string;
  /** 0: the whole file. */
  line: number;
  reason: string;
}

export interface Imported {
  conversations: number;
  /** That the files hold. */
  turns: number;
  /** Of them, those that were not there before. */
  added: number;
  /** The first thousand. */
  skipped: Skipped[];
}

export interface ImportRequest {
  projectId: string;
  /** The top of the repository. */
  root: string;
  /** Files and folders; none: what Claude Code and Codex keep of the repository. */
  paths: readonly string[];
  environment: NodeJS.ProcessEnv;
  redact(text: string): string;
}

/** Throws `usage` where a named file is no transcript; then nothing is imported. */
export async function importTranscripts(store: Store, request: ImportRequest): Promise<Imported> {
  const { paths, root, environment } = request;
  const files = paths.length > 0 ? await findNamed(paths) : await findOfRepository(root, environment);
  const imported: Imported = { conversations: 0, turns: 0, added: 0, skipped: [] };
  const transcripts = await recogniseAll(files, imported.skipped);
  if (paths.length > 0 && transcripts.length === 0) throw noTranscript(paths.join(', '));
  for (const transcript of transcripts) {
    imported.conversations++;
    await importOne(store, { request, transcript, imported });
  }
  return imported;
}

/** All of them before the first turn is written. */
async function recogniseAll(files: readonly FoundFile[], skipped: Skipped[]): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  for (const file of files) {
    const known = await recogniseTranscript(file).catch((error: Error) => {
      if (file.isNamed) throw error;
      return error;
    });
    if (known === null && file.isNamed) throw noTranscript(file.path);
    if (known instanceof Error) tell(skipped, { file: file.path, line: 0, reason: known.message });
    else if (known) transcripts.push(known);
    else if (!file.folders) tell(skipped, { file: file.path, line: 0, reason: 'it is no transcript' });
  }
  return transcripts;
}

function noTranscript(path: string): PulseError {
  return new PulseError('usage', `${path} is no transcript of Claude Code or Codex.`, {
    hint: 'Nothing was imported. Transcripts are JSONL files, such as ~/.claude/projects/…/ID.jsonl.',
  });
}

interface OneImport {
  request: ImportRequest;
  transcript: Transcript;
  imported: Imported;
}

async function importOne(store: Store, { request, transcript, imported }: OneImport): Promise<void> {
  const { path, kind } = transcript;
  const reader = kind === 'claude' ? createClaudeReader() : createCodexReader(basename(path));
  await using file = await openTranscript(path);
  const { projectId } = request;
  let turns: NewTurn[] = [];
  let entries: TranscriptEntry[] = [];
  const write = async () => {
    const portion = { projectId, turns, entries };
    [turns, entries] = [[], []];
    if (portion.turns.length + portion.entries.length === 0) return;
    imported.added += await store.tx('import', (db) => insertImported(db, portion));
  };
  for await (const read of transcriptLines(file)) {
    const { line } = read;
    const found =
      'skip' in read
        ? read
        : isRecord(read.value)
          ? reader.read(read.value, line)
          : { skip: 'it is no entry' };
    if (found === null) continue;
    if ('entry' in found) {
      if (entries.push(found.entry) === PORTION) await write();
      continue;
    }
    if ('skip' in found) {
      tell(imported.skipped, { file: path, line, reason: found.skip });
      continue;
    }
    imported.turns++;
    if (turns.push(importedRow(found.turn, request)) === PORTION) await write();
  }
  await write();
}

function tell(skipped: Skipped[], told: Skipped): void {
  if (skipped.length < MOST_TOLD) skipped.push(told);
}

/** A secret that stands where the text is cut is hidden as well: more than is kept is redacted. */
function importedRow(turn: ImportedTurn, { projectId, redact }: ImportRequest): NewTurn {
  const { id, parentId, namedParentId, depth, role, createdAt } = turn;
  const text = turn.content
    .slice(0, 2 * MOST_IN_TURN)
    .replaceAll('\0', '')
    .toWellFormed();
  const content = redact(text).slice(0, MOST_IN_TURN).toWellFormed();
  const said = { role, content };
  return {
    ...{
      id,
      parent_id: parentId,
      named_parent_id: namedParentId,
      project_id: projectId,
      session_id: null,
      iteration_number: null,
    },
    ...{ role, phase: phaseOfWords(said), content, content_hash: contentHash(content) },
    ...{ salience: salienceOfWords(said), depth, created_at: createdAt },
  };
}
