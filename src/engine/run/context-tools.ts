/** With these a run looks up what was said in its project. Which project that is, its attempt says, not its agent. */
import * as z from 'zod';
import type { ContextMeans } from '../../context/iteration-context.ts';
import { searchExcerpts } from '../../context/search/excerpts.ts';
import type { Redactor } from '../../domain/redact.ts';
import { findTurn } from '../../store/turns.ts';
import { defineTool, type Tool } from '../../tools/contract.ts';

const MOST_CONTENT = 16_000;

export interface ContextToolsOptions extends ContextMeans {
  redactor: Redactor;
}

export function createContextTools(
  { redactor, ...means }: ContextToolsOptions,
  { projectId }: { projectId: string },
): Tool[] {
  return [
    defineTool({
      name: 'pulse_context_search',
      description:
        'What was said in this project that helps with these words: turns, best first. Nothing in the words is syntax.',
      input: z.object({ query: z.string(), limit: z.int().min(1).max(50).optional() }),
      async call({ query, limit = 10 }) {
        const results = await searchExcerpts(means, { query, projectId, limit, redact: redactor.redact });
        const isLearning = means.meaning?.state(projectId) === 'learning';
        return { ok: true, output: { results, ...(isLearning ? { meaning: 'learning' } : {}) } };
      },
    }),
    defineTool({
      name: 'pulse_context_turn',
      description: 'A turn of this project as it was said, by its id.',
      input: z.object({ turn_id: z.string().min(1).max(100) }),
      async call({ turn_id }) {
        const turn = await means.store.read((db) => findTurn(db, projectId, turn_id), {
          hasNoSnapshot: true,
        });
        if (!turn)
          return {
            ok: false,
            output: `There is no turn ${turn_id} in this project.`,
            reasons: ['pulse_context_search finds turns and their ids.'],
          };
        const { id, parent_id, role, phase, salience, depth, created_at } = turn;
        const content = redactor.redact(turn.content).slice(0, MOST_CONTENT).toWellFormed();
        const isCut = turn.content.length > MOST_CONTENT;
        return {
          ok: true,
          output: { turn: { id, parent_id, role, phase, salience, depth, created_at, content, isCut } },
        };
      },
    }),
  ];
}
