/** The thread in which turns are given their meaning. */
import { parentPort } from 'node:worker_threads';
import type { FromMeaning, ToMeaning } from './meaning-messages.ts';
import { createProjectMeaning, type ProjectMeaning } from './project-meaning.ts';

const port = parentPort!;
const projects = new Map<string, ProjectMeaning>();

port.on('message', (message: ToMeaning) => {
  const project = projects.get(message.projectId) ?? createProjectMeaning();
  projects.set(message.projectId, project);
  if (message.kind === 'add') {
    for (const turn of message.turns) project.add(turn);
    return;
  }
  const { question } = message;
  port.postMessage({ question, numbers: project.search(message) } satisfies FromMeaning);
});
