/** `prd.json` of ralph: user stories, worked on in the order of their priority. */
import { EPIC, slug } from '../../graph/bead.ts';
import { asObjects, type ListOptions, paragraphs, section, type Task, textOf } from './task-list.ts';

export function isRalph(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && 'userStories' in value;
}

export function readRalph(prd: Record<string, unknown>, { name }: ListOptions): Task[] {
  const title =
    textOf(prd.project) || textOf(prd.projectName) || textOf(prd.feature) || textOf(prd.description) || name;
  const epic: Task = {
    id: slug(textOf(prd.branchName) || title),
    title,
    type: EPIC,
    body: textOf(prd.description),
  };
  const stories = asObjects(prd.userStories, 'userStories');
  const order = (story: Record<string, unknown>) =>
    typeof story.priority === 'number' ? story.priority : Number.MAX_SAFE_INTEGER;
  return [epic, ...stories.toSorted((a, b) => order(a) - order(b)).map((story) => readStory(story, epic.id))];
}

function readStory(story: Record<string, unknown>, epic: string): Task {
  const criteria = listOf(story.acceptanceCriteria).map((each) => `- ${each}`);
  return {
    id: textOf(story.id),
    title: textOf(story.title) || textOf(story.name),
    body: paragraphs(
      textOf(story.description),
      section('Acceptance criteria', criteria.join('\n')),
      section('Notes', textOf(story.notes)),
    ),
    type: 'feature',
    status: story.passes === true ? { done: 'Completed: it passed before it was imported' } : 'open',
    waitsFor: listOf(story.dependencies ?? story.dependsOn),
    epic,
  };
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf).filter(Boolean) : [];
}
