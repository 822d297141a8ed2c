/** What goes in over HTTP for research. */
import { z } from '@hono/zod-openapi';
import { researchInputSchema } from '../research/research-file.ts';
import { startFields } from './schemas.ts';

export const ResearchStartBody = z
  .strictObject({
    research: researchInputSchema,
    ...startFields,
    iterations: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .openapi({ description: 'Stop after so many experiments; wins over the file’s.' }),
    parallel: z
      .int()
      .min(1)
      .max(16)
      .optional()
      .openapi({ description: 'How many experiments are worked on at once (1).' }),
  })
  .openapi('ResearchStart');
export type ResearchStartBody = z.output<typeof ResearchStartBody>;

export const FinishBody = z
  .strictObject({
    how: z.enum(['implement', 'pause', 'done']).openapi({
      description:
        '`implement` makes a plan of the next steps, `pause` leaves it for later, `done` closes it.',
    }),
  })
  .openapi('ResearchFinish');
