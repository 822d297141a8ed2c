/** What a person does with research: start it, look at it, have it reported, say what becomes of it (contract 5). */
import { loadConfig } from '../config.ts';
import { PulseError } from '../domain/errors.ts';
import { researchFileOf } from '../engine/measure.ts';
import { rowsOf } from '../engine/research-files.ts';
import { openRepository } from '../git/repository.ts';
import { type Decision, decisionSchema } from '../research/decision.ts';
import { finalLines, type Progress, progressOf } from '../research/progress.ts';
import { type ReportRow, reportHtml } from '../research/report.ts';
import { type ResearchFile, readResearchFile } from '../research/research-file.ts';
import { triedStrategies } from '../research/strategy.ts';
import { isSurprising } from '../research/surprise.ts';
import {
  type Experiment,
  findResearch,
  insertResearch,
  listExperiments,
  type Research,
  updateResearch,
} from '../store/research.ts';
import { getSession, type Session } from '../store/sessions.ts';
import type { Operations, Within } from './context.ts';
import { type StartInput, type StartNotes, startSession } from './start.ts';

const DIFF_BYTES = 200_000;

export interface ResearchInput extends Omit<StartInput, 'goal' | 'kind' | 'verify' | 'maxIterations'> {
  /** What YAML gave. */
  content: unknown;
  iterations?: number;
}

export async function startResearch(
  operations: Operations,
  input: ResearchInput,
  within?: Within,
): Promise<{ session: Session; notes: StartNotes }> {
  const { content, iterations: wanted, ...start } = input;
  const file = checked(content);
  const repository = await openRepository(operations.git, input.path);
  const { values } = await loadConfig(repository.root, operations.environment);
  if (values.labels.length > 0) {
    throw new PulseError(
      'invalid_config',
      'Research measures on the host of its runner: it takes no labels yet.',
      {
        hint: 'Take `labels` out of the config for this repository.',
      },
    );
  }
  const iterations = wanted ?? file.iterations ?? null;
  return startSession(
    operations,
    { ...start, kind: 'research', goal: file.goal, verify: [], maxIterations: (iterations ?? 10_000) + 1 },
    async (db, sessionId) => {
      await insertResearch(db, { sessionId, content, iterations });
      await within?.(db, sessionId);
    },
  );
}

function checked(content: unknown): ResearchFile {
  const read = readResearchFile(content);
  if ('file' in read) return read.file;
  throw new PulseError('invalid_input', `research.yaml has ${read.problems.length} fault(s).`, {
    hint: read.problems.join('\n'),
    data: { problems: read.problems },
  });
}

export interface ResearchView {
  session: Session;
  research: Research;
  file: ResearchFile;
  /** Oldest first. */
  experiments: Experiment[];
  progress: Progress;
  /** Seed 4's closing words. */
  final: string[];
}

export async function viewResearch({ engine: { store } }: Operations, id: string): Promise<ResearchView> {
  const { session, research, newestFirst } = await store.read(async (db) => {
    const found = await getSession(db, id);
    return {
      session: found,
      research: await findResearch(db, found.id),
      newestFirst: await listExperiments(db, found.id),
    };
  });
  if (!research) {
    throw new PulseError(
      'invalid_input',
      `Session ${session.id} is no research: it is of kind ${session.kind}.`,
      {
        hint: '`pulse research start FILE` starts one.',
      },
    );
  }
  const isGoalReached = session.status === 'complete' && session.stop_reason === 'completed';
  const progress = progressOf(rowsOf(session, research, newestFirst), {
    iterations: research.iterations,
    isGoalReached,
  });
  return {
    session,
    research,
    file: researchFileOf(research.content),
    experiments: newestFirst.toReversed(),
    progress,
    final: finalLines(progress),
  };
}

export async function reportResearch(operations: Operations, id: string): Promise<string> {
  const { session, research, file, experiments, progress } = await viewResearch(operations, id);
  const kept = experiments.filter(({ status }) => status === 'keep');
  const root = session.project_path;
  const diff = async (from: string, to: string): Promise<string> =>
    (await operations.git.text(['diff', '--no-color', from, to], { cwd: root })).slice(0, DIFF_BYTES);
  const diffs = [];
  for (const { number, start_sha, commit_hash } of kept) {
    diffs.push({ iteration: number, diff: await diff(start_sha, commit_hash!) });
  }
  const rows = rowsOf(session, research, experiments.toReversed()).map((row): ReportRow => {
    const experiment = experiments.find(({ number }) => number === row.iteration);
    const decision = decisionOf(experiment);
    return {
      ...row,
      reason: experiment?.reason ?? '',
      isSurprising: decision !== null && isSurprising(decision),
      sigma: decision?.figures.sigma ?? null,
    };
  });
  const last = kept.at(-1)?.commit_hash;
  return reportHtml({
    goal: file.goal,
    sessionId: session.id,
    metric: {
      name: file.metric.name,
      direction: file.metric.direction,
      verifyCommand: file.metric.verifyCommand,
      target: file.metric.target ?? null,
    },
    baselineCommit: session.base_sha.slice(0, 10),
    progress,
    rows,
    strategy: triedStrategies(
      file.strategy,
      experiments.map(({ number, description }) => ({ iteration: number, description })),
    ),
    diffs,
    totalDiff: last ? await diff(session.base_sha, last) : '',
  });
}

function decisionOf(experiment: Experiment | undefined): Decision | null {
  return experiment?.decision ? decisionSchema.parse(experiment.decision) : null;
}

export type FinishHow = 'pause' | 'done';

export async function finishResearch(
  operations: Operations,
  id: string,
  how: FinishHow,
): Promise<ResearchView> {
  const { session } = await viewResearch(operations, id);
  const { store, researchFiles } = operations.engine;
  await store.tx(
    'finish',
    (db) => updateResearch(db, session.id, { phase: how === 'done' ? 'complete' : 'paused' }),
    {
      session: session.id,
    },
  );
  await researchFiles.write(session.id);
  return viewResearch(operations, id);
}
