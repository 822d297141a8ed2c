/** The thread in which turns are given their meaning: questions are answered between the steps of a fit. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { FromMeaning, ToMeaning } from './meaning-messages.ts';
import { createProjectMeaning, type ProjectMeaning } from './project-meaning.ts';
import type { MeaningThreadData } from './turn-meaning.ts';

type Add = Extract<ToMeaning, { kind: 'add' }>;
type Ask = Extract<ToMeaning, { kind: 'ask' }>;

const port = parentPort!;
const projects = new Map<string, ProjectMeaning>();
const lessons = new Map<string, Add['turns'][]>();
const waiting = new Set<Ask>();
let isLearning = false;
// Its end is the thread's: what it knows is in the store, and learnt again for the next question.
const resting = setTimeout(rest, (workerData as MeaningThreadData).restMs);

port.on('message', (message: ToMeaning) => {
  resting.refresh();
  const project = projects.get(message.projectId) ?? createProjectMeaning();
  projects.set(message.projectId, project);
  if (message.kind === 'add') take(project, message);
  else if (message.isPatient && project.state() === 'learning') waiting.add(message);
  else answer(project, message);
});

function rest(): void {
  if (isLearning || lessons.size > 0) resting.refresh();
  else port.close();
}

function take(project: ProjectMeaning, { projectId, turns, hasMore }: Add): void {
  const parts = [...(lessons.get(projectId) ?? []), turns];
  if (hasMore) {
    lessons.set(projectId, parts);
    return;
  }
  lessons.delete(projectId);
  project.add(parts.flat());
  void learn();
}

function answer(project: ProjectMeaning, asked: Ask): void {
  const numbers = project.search(asked);
  port.postMessage({ question: asked.question, numbers, state: project.state() } satisfies FromMeaning);
}

async function learn(): Promise<void> {
  if (isLearning) return;
  isLearning = true;
  for (let hasWorked = true; hasWorked; ) {
    hasWorked = false;
    for (const project of projects.values()) hasWorked = project.learn() || hasWorked;
    answerWaiting();
    await nextTurn();
  }
  isLearning = false;
  resting.refresh();
}

function answerWaiting(): void {
  for (const asked of waiting) {
    const project = projects.get(asked.projectId)!;
    if (project.state() === 'learning') continue;
    waiting.delete(asked);
    answer(project, asked);
  }
}
