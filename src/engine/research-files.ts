/** `autoresearch-results.tsv` and the session's files, written from the rows (contract 5, Files). */
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureExcluded } from '../git/exclude.ts';
import { isStatusDue } from '../research/progress.ts';
import { type ResultRow, resultLine, resultsFile } from '../research/results.ts';
import { isSessionFileDue, sessionFile } from '../research/session-file.ts';
import {
  type ExperimentHead,
  findResearch,
  listExperimentHeads,
  listExperiments,
  type Research,
} from '../store/research.ts';
import { findSession, type Session } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { researchFileOf } from './measure.ts';
import type { ResearchFiles } from './ports.ts';

const TAIL_BYTES = 4_096;

export function createResearchFiles({ store }: { store: Store }): ResearchFiles {
  return {
    async write(sessionId) {
      const { session, research, newest } = await store.read(async (db) => ({
        session: (await findSession(db, sessionId))!,
        research: (await findResearch(db, sessionId))!,
        newest: (await listExperiments(db, sessionId, 2)).find(({ status }) => status !== 'running') ?? null,
      }));
      if (research.baseline === null) return;
      const root = session.project_path;
      await ensureExcluded(root);
      const last = newest ? rowOf(newest) : baselineRow(session, research);
      const allRows = async () => {
        const all = await store.read((db) => listExperimentHeads(db, sessionId));
        return rowsOf(session, research, all);
      };
      const { direction } = researchFileOf(research.content).metric;
      for (const path of [join(root, 'autoresearch-results.tsv'), join(folderOf(root), `${sessionId}.tsv`)]) {
        const isNext = (await lastNumber(path, session, research)) === last.iteration - 1;
        if (isNext) await append(path, resultLine(last));
        else await replace(path, resultsFile(direction, await allRows()));
      }
      if (newest === null) await writePlan(session, research);
      if (isSessionFileDue(last) || isStatusDue(last.iteration) || session.ended_at !== null) {
        const path = join(folderOf(root), `${sessionId}.json`);
        await replace(path, `${JSON.stringify(fileOf(session, research, await allRows()), null, 2)}\n`);
      }
    },
  };
}

function folderOf(root: string): string {
  return join(root, '.context/research-sessions');
}

export function rowsOf(
  session: Session,
  research: Research,
  newestFirst: readonly ExperimentHead[],
): ResultRow[] {
  const settled = newestFirst.filter(({ status }) => status !== 'running').toReversed();
  return [baselineRow(session, research), ...settled.map(rowOf)];
}

function baselineRow({ base_sha: commit }: Session, { baseline }: Research): ResultRow {
  const nothing = { delta: null, commanderTaskId: null };
  return { iteration: 0, commit, metric: baseline, status: 'baseline', description: 'baseline', ...nothing };
}

function rowOf({ number, status, commit_hash, metric, delta, description }: ExperimentHead): ResultRow {
  return {
    iteration: number,
    commit: status === 'keep' ? commit_hash : null,
    metric: status === 'crash' ? null : metric,
    delta: status === 'crash' ? null : delta,
    status: status as ResultRow['status'],
    description,
    commanderTaskId: null,
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

async function readStart(path: string): Promise<string | null> {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}

async function readEnd(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, from);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}

async function append(path: string, line: string): Promise<void> {
  await using file = await open(path, 'a');
  await file.write(line);
}

/** Never half-written. */
async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, path);
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
  const existing = await readFile(path, 'utf8').catch(() => null);
  if (existing?.includes(session.id)) return;
  await replace(path, existing === null ? text : `${existing.trimEnd()}\n\n${text}`);
}

function fileOf(session: Session, research: Research, rows: readonly ResultRow[]) {
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
      findings: research.findings,
      nextSteps: [],
      implementation: null,
      createdAt: session.created_at,
      updatedAt: session.ended_at ?? new Date().toISOString(),
      workingDirectory: session.project_path,
      tags: [],
    },
    rows,
  );
}
