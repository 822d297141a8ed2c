/** `finish --implement`: the next steps as an epic and its beads. A test holds it to the rules of drafts. */
import { createHash } from 'node:crypto';
import type { NextStep } from './findings.ts';

export interface ImplementationInput {
  /** The session that found them. */
  sessionId: string;
  goal: string;
  inScope: readonly string[];
  /** What must pass before anything is kept. */
  guard: string | undefined;
  /** What measures: it must still run. */
  measure: string;
  findings: string;
  steps: readonly NextStep[];
}

const TITLE = 200;

/** The same session has the same epic, and the same step the same bead: making them again adds what is new. */
export function implementationDraft(input: ImplementationInput) {
  const { goal, sessionId, inScope, guard, measure, findings, steps } = input;
  const id = epicOfResearch(sessionId);
  const commands = [...new Set([...(guard === undefined ? [] : [guard]), measure])];
  return {
    epic: {
      id,
      title: oneLine(`Implement what research found: ${goal}`, TITLE),
      feature: id,
      body: `${plain(findings)}\n\nThe steps stand in order of worth.`,
    },
    beads: steps.map(({ title, description }) => ({
      id: `${id}-${createHash('sha256').update(title).digest('hex').slice(0, 6)}`,
      title: oneLine(title, TITLE),
      body: plain(description),
      files: [...inScope],
      verify: commands.map((command) => ({ command })),
    })),
  };
}

function epicOfResearch(sessionId: string): string {
  return `research-${sessionId.slice(-6)}`;
}

/** An idea may be worded like the id of a locked decision by chance: those are a person's, and none is meant here. */
function plain(text: string): string {
  return text.replaceAll(/\bD(?=\d)/g, 'd');
}

function oneLine(text: string, longest: number): string {
  return plain(text).replaceAll(/\s+/g, ' ').trim().slice(0, longest).toWellFormed();
}
