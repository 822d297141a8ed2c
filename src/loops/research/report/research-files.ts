/** `autoresearch-results.tsv` and the session's files, written from the rows (docs/protocol/research.md, Files). */
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { oneAtATime } from '../../../engine/runner/serialize.ts';
import { isNothing, openRegularFile, readTextOrNull } from '../../../files/regular-file.ts';
import { ensureExcluded } from '../../../git/exclude.ts';
import type { Git } from '../../../git/exec.ts';
import { findSession, type Session } from '../../../store/sessions.ts';
import type { Store } from '../../../store/store.ts';
import type { ResearchFiles } from '../index.ts';
import { researchFileOf } from '../measure/measure.ts';
import {
  findResearch,
  isFollowedByResearch,
  listExperimentHeads,
  listFailureReasons,
  newestDecided,
  type Research,
} from '../rows.ts';
import { type FindingsInput, findingsOf, nextStepsOf } from './findings.ts';
import { append, replace, sessionPath } from './research-paths.ts';
import { baselineRow, rowOf, rowsOf } from './result-rows.ts';
import { type ResultRow, resultLine, resultsFile } from './results.ts';
import { isSessionFileDue, sessionFile } from './session-file.ts';
import { writeReport } from './write-report.ts';

const TAIL_BYTES = 4_096;
/** More reasons than anybody reads at once are not fetched. */
const REASONS = 200;

export function createResearchFiles({ store, git }: { store: Store; git: Git }): ResearchFiles {
  return {
    // Several may experiment for one session: what one of them read must not be written over what the next has.
    write: (sessionId) =>
      oneAtATime(store, `files of ${sessionId}`, () => writeFiles({ store, git }, sessionId)),
  };
}

async function writeFiles({ store, git }: { store: Store; git: Git }, sessionId: string): Promise<void> {
  const { session, research, decided, isFollowed } = await store.read(async (db) => {
    const found = {
      session: (await findSession(db, sessionId))!,
      research: (await findResearch(db, sessionId))!,
    };
    return {
      ...found,
      decided: await newestDecided(db, found.research, 2),
      isFollowed: await isFollowedByResearch(db, found.session),
    };
  });
  if (research.baseline === null) return;
  const root = session.project_path;
  await ensureExcluded(root);
  const [newest = null, previous] = decided;
  const last = newest ? rowOf(session, newest) : baselineRow(session, research);
  const allRows = async () => {
    const all = await store.read((db) => listExperimentHeads(db, sessionId));
    return rowsOf(session, research, all);
  };
  const isNext = async (log: string): Promise<boolean> =>
    newest !== null && (await lastNumber(log, session, research)) === (previous?.number ?? 0);

  if (newest === null) await writePlan(session, research);
  const own = sessionPath(session, 'tsv');
  // The session's own log is written last: if a crash kept another file from being written, this one lacks its row too.
  if (!(await isNext(own)) || isSessionFileDue(last) || session.ended_at !== null) {
    const found = await findingsInput(store, { session, research, rows: await allRows() });
    const file = fileOf(session, research, found);
    await replace(session, sessionPath(session, 'json'), `${JSON.stringify(file, null, 2)}\n`);
  }
  const { direction } = researchFileOf(research.content).metric;
  for (const log of isFollowed ? [own] : [join(root, 'autoresearch-results.tsv'), own]) {
    if (await isNext(log)) await append(session, log, resultLine(last));
    else await replace(session, log, resultsFile(direction, await allRows()));
  }
  // The report is written when the loop has ended, even if nobody asks for it.
  if (session.status === 'complete') await writeReport({ store, git }, sessionId);
}

/** What the findings are read off. */
export async function findingsInput(
  store: Store,
  { session, research, rows }: { session: Session; research: Research; rows: readonly ResultRow[] },
): Promise<FindingsInput> {
  const reasons = await store.read((db) => listFailureReasons(db, session.id, REASONS));
  const { metric, strategy } = researchFileOf(research.content);
  return {
    metric,
    strategy,
    rows: rows.map((row) => ({ ...row, reason: reasons.get(row.iteration) ?? '' })),
  };
}

/** The number in the last line of a log of this very session; `null` where it is another's, or not a whole one. */
async function lastNumber(path: string, session: Session, research: Research): Promise<number | null> {
  const head = await readStart(path);
  if (head === null || !head.includes(resultLine(baselineRow(session, research)))) return null;
  const tail = await readEnd(path);
  if (!tail.endsWith('\n')) return null;
  const line = tail.trimEnd().split('\n').at(-1) ?? '';
  return /^\d+\t/.test(line) ? Number.parseInt(line, 10) : null;
}

/** `null` where there is no such file. */
async function readStart(path: string): Promise<string | null> {
  await using file = await openRegularFile(path).catch((error: unknown) => {
    if (isNothing(error)) return null;
    throw error;
  });
  return file && (await readAt(file, 0));
}

async function readEnd(path: string): Promise<string> {
  await using file = await openRegularFile(path);
  const { size } = await file.stat();
  return await readAt(file, Math.max(0, size - TAIL_BYTES));
}

async function readAt(file: FileHandle, from: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, from);
  return buffer.subarray(0, bytesRead).toString('utf8');
}

/** Kept as a record: one that is there stays. */
async function writePlan(session: Session, research: Research): Promise<void> {
  const path = join(session.project_path, '.context/autoresearch-plan.md');
  const { goal, metric, scope, strategy } = researchFileOf(research.content);
  const text = `# Research plan: ${goal}

Session ${session.id}, from ${session.base_sha.slice(0, 10)} on ${session.branch_name}.

Metric: ${metric.name} (${metric.direction} is better), measured by \`${metric.verifyCommand}\`
In scope: ${scope.inScope.join(', ')}

## Strategy

${strategy.length === 0 ? '(none given)' : strategy.map((line) => `- ${line}`).join('\n')}
`;
  const existing = await readTextOrNull(path);
  if (existing?.includes(session.id)) return;
  await replace(session, path, existing === null ? text : `${existing.trimEnd()}\n\n${text}`);
}

function fileOf(session: Session, research: Research, found: FindingsInput) {
  const { goal, metric, scope } = researchFileOf(research.content);
  return sessionFile(
    {
      id: session.id,
      status: research.phase as 'researching',
      goal,
      metric: {
        name: metric.name,
        direction: metric.direction,
        verifyCommand: metric.verifyCommand,
        target: metric.target ?? null,
      },
      scope,
      plan: '.context/autoresearch-plan.md',
      findings: findingsOf(found),
      nextSteps: nextStepsOf(found).map(({ title }) => title),
      implementation: research.implementation,
      createdAt: session.created_at,
      updatedAt: new Date().toISOString(),
      workingDirectory: session.project_path,
      tags: ['autoresearch', metric.name],
    },
    found.rows,
  );
}
