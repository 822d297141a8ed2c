/** What a person does with research: start it, look at it, have it reported, say what becomes of it. */
import { PulseError } from '../../../domain/errors.ts';
import type { Operations } from '../../../operations/context.ts';
import type { InputOf } from '../../../operations/fields.ts';
import type { CallerOptions } from '../../../operations/operation.ts';
import { openTrustedProject } from '../../../operations/project.ts';
import { type Started, startSession } from '../../../operations/start.ts';
import { getSession, type Session } from '../../../store/sessions.ts';
import { researchFileOf } from '../measure/measure.ts';
import { finalLines, type Progress, progressOf } from '../report/progress.ts';
import { rowsOf } from '../report/result-rows.ts';
import { composeReport, type ReportWords, writeReport } from '../report/write-report.ts';
import { type ResearchFile, readResearchFile } from '../research-file.ts';
import { type Experiment, findResearch, insertResearch, listExperiments, type Research } from '../rows.ts';
import type * as definitions from './definitions.ts';

type ResearchInput = InputOf<typeof definitions.start.fields> & CallerOptions;

const MOST_AT_ONCE = 16;

export async function startResearch(operations: Operations, input: ResearchInput): Promise<Started> {
  const { content, iterations: wanted, parallel = 1, within, ...start } = input;
  const file = checked(content);
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > MOST_AT_ONCE) {
    throw new PulseError('invalid_input', `${parallel} experiments at once are not possible.`, {
      hint: `Choose a number from 1 to ${MOST_AT_ONCE}.`,
    });
  }
  const project = await openTrustedProject(operations, input);
  if (project.config.values.labels.length > 0) {
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
    {
      project,
      hasOwnChecks: true,
      within: async (db, sessionId) => {
        await insertResearch(db, { sessionId, content, iterations, parallel });
        await within?.(db, sessionId);
      },
    },
  );
}

function checked(content: unknown): ResearchFile {
  const read = readResearchFile(content);
  if ('file' in read) return read.file;
  throw new PulseError('invalid_input', `research.yaml has ${read.problems.length} fault(s).`, {
    hint: read.problems.join('\n'),
    data: { violations: read.problems },
  });
}

export interface ResearchRows {
  session: Session;
  research: Research;
  file: ResearchFile;
  /** Oldest first. */
  experiments: Experiment[];
  progress: Progress;
  /** Its closing words. */
  final: string[];
}

export async function readResearch({ engine: { store } }: Operations, id: string): Promise<ResearchRows> {
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

export async function reportResearch(
  operations: Operations,
  id: string,
  words?: ReportWords,
): Promise<string> {
  const session = await measured(operations, id);
  return composeReport({ store: operations.engine.store, git: operations.git }, session.id, words);
}

/** Writes it beside the session's other files; returns where it is. */
export async function writeResearchReport(
  operations: Operations,
  id: string,
  words?: ReportWords,
): Promise<string> {
  const session = await measured(operations, id);
  return writeReport({ store: operations.engine.store, git: operations.git }, session.id, words);
}

async function measured(operations: Operations, id: string): Promise<Session> {
  const { session, research } = await readResearch(operations, id);
  if (research.baseline !== null) return session;
  throw new PulseError('invalid_transition', `Session ${session.id} has nothing to report yet.`, {
    hint: `Its baseline is not measured: pulse watch ${session.id} follows it.`,
  });
}
