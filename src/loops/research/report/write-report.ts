/** The report of a research session: one HTML page, from the rows and from git. */
import type { Git } from '../../../git/exec.ts';
import { getSession } from '../../../store/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { triedStrategies } from '../ideas/strategy.ts';
import { type Decision, decisionSchema } from '../measure/decision.ts';
import { researchFileOf } from '../measure/measure.ts';
import { isSurprising } from '../measure/surprise.ts';
import { type Experiment, findResearch, listExperiments } from '../rows.ts';
import { progressOf } from './progress.ts';
import { type ReportRow, reportHtml } from './report-page.ts';
import { replace, sessionPath } from './research-paths.ts';
import { rowsOf } from './result-rows.ts';

const DIFF_BYTES = 200_000;

export interface ReportSources {
  store: Store;
  git: Git;
}

/** What the caller adds to the report. */
export interface ReportWords {
  title?: string;
  summary?: string;
}

export async function composeReport(
  { store, git }: ReportSources,
  sessionId: string,
  words: ReportWords = {},
): Promise<string> {
  const { session, research, newestFirst } = await store.read(async (db) => ({
    session: await getSession(db, sessionId),
    research: (await findResearch(db, sessionId))!,
    newestFirst: await listExperiments(db, sessionId),
  }));
  const file = researchFileOf(research.content);
  const experiments = newestFirst.toReversed();
  const kept = experiments.filter(({ status }) => status === 'keep');
  const diff = (from: string, to: string): Promise<string> =>
    shownDiff(git, { cwd: session.project_path, from, to });
  const diffs = [];
  for (const { number, start_sha, commit_hash } of kept) {
    diffs.push({ iteration: number, diff: await diff(start_sha, commit_hash!) });
  }
  const results = rowsOf(session, research, newestFirst);
  const rows = results.map((row): ReportRow => {
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
  const isGoalReached = session.status === 'complete' && session.stop_reason === 'completed';
  return reportHtml({
    ...words,
    goal: file.goal,
    sessionId: session.id,
    metric: {
      name: file.metric.name,
      direction: file.metric.direction,
      verifyCommand: file.metric.verifyCommand,
      target: file.metric.target ?? null,
    },
    baselineCommit: session.base_sha.slice(0, 10),
    progress: progressOf(results, { iterations: research.iterations, isGoalReached }),
    rows,
    strategy: triedStrategies(
      file.strategy,
      experiments.map(({ number, description }) => ({ iteration: number, description })),
    ),
    diffs,
    totalDiff: last ? await diff(session.base_sha, last) : '',
  });
}

/** Beside the session's other files; writing it again is no error. Returns where it is. */
export async function writeReport(
  sources: ReportSources,
  sessionId: string,
  words?: ReportWords,
): Promise<string> {
  const html = await composeReport(sources, sessionId, words);
  const session = await sources.store.read((db) => getSession(db, sessionId));
  const path = sessionPath(session, 'html');
  await replace(session, path, html);
  return path;
}

/** A commit that a person has deleted since is no reason to have no report. */
async function shownDiff(
  git: Git,
  { cwd, from, to }: { cwd: string; from: string; to: string },
): Promise<string> {
  try {
    return (await git.text(['diff', '--no-color', from, to], { cwd })).slice(0, DIFF_BYTES);
  } catch (error) {
    return `The difference cannot be shown: ${(error as Error).message}`;
  }
}

function decisionOf(experiment: Experiment | undefined): Decision | null {
  return experiment?.decision ? decisionSchema.parse(experiment.decision) : null;
}
