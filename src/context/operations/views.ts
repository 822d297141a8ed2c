/** Turns as they are answered. */
import * as z from 'zod';
import { time } from '../../operations/session/view-schema.ts';

const turn = {
  id: z.string(),
  parent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  iteration_number: z.int().nullable(),
  role: z.string(),
  phase: z.string(),
  salience: z.number(),
  depth: z.int(),
  content_hash: z.string(),
  created_at: time,
};

const Turn = z.object(turn).meta({ id: 'Turn' });
const WholeTurn = z
  .object({ ...turn, project_id: z.string(), content: z.string() })
  .meta({ id: 'WholeTurn' });

export const ImportAnswer = z.object({
  conversations: z.int(),
  turns: z.int(),
  added: z.int(),
  skipped: z.array(z.object({ file: z.string(), line: z.int(), reason: z.string() })),
});
export const SearchAnswer = z.object({
  results: z.array(
    z.object({
      turn_id: z.string(),
      similarity: z.number(),
      salience: z.number(),
      depth: z.int(),
      role: z.string(),
      phase: z.string(),
      created_at: time,
      excerpt: z.string(),
    }),
  ),
  /** Words answered alone: the model of the project’s turns is still being made. */
  meaning: z.literal('learning').optional(),
  embedder: z
    .object({
      service: z.string(),
      model: z.string(),
      dimension: z.int().nullable(),
      state: z.enum(['ready', 'partial', 'replaced', 'away']),
      reason: z.string().nullable(),
    })
    .optional(),
});
export const CodeAnswer = z.object({
  index: z.enum(['lexical', 'partial', 'ready', 'stale']),
  results: z.array(z.object({ path: z.string(), line: z.int(), text: z.string() })),
});
export const SliceAnswer = z
  .object({
    slice_id: z.string(),
    anchor_turn_id: z.string(),
    turn_ids: z.array(z.string()),
    edges: z.array(z.object({ parent: z.string(), child: z.string() })),
    node_count: z.int(),
    policy_id: z.string(),
    policy_params_hash: z.string(),
    graph_snapshot_hash: z.string(),
    admissibility_token: z.string(),
  })
  .meta({ id: 'Slice' });
export const TurnsAnswer = z.object({ turns: z.array(Turn), nextCursor: z.string().nullable() });
export const TurnAnswer = z.object({ turn: WholeTurn });
