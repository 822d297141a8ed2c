/** What each service is asked, and where its answer has the vectors. */
import type { EmbedderSettings, EmbeddingService } from '../../domain/embedder.ts';

/** Some models place a question otherwise than what may answer it. */
export type TextKind = 'query' | 'document';

export interface EmbeddingProtocol {
  path: string;
  body(settings: EmbedderSettings, texts: readonly string[], kind: TextKind): Record<string, unknown>;
  /** In the order of the texts; anything else is found out by the caller. */
  vectors(answer: Record<string, unknown>): unknown;
  /** What a refusal says. */
  complaint(answer: Record<string, unknown>): unknown;
}

/** Of OpenAI and those that speak as it does: a list, each with the number of its text. */
function inOrder({ data }: Record<string, unknown>): unknown {
  if (!Array.isArray(data)) return null;
  const vectors: unknown[] = new Array(data.length).fill(null);
  for (const [place, each] of (data as { index?: unknown; embedding?: unknown }[]).entries())
    vectors[typeof each?.index === 'number' ? each.index : place] = each?.embedding;
  return vectors.length === data.length ? vectors : null;
}

export const PROTOCOLS: Record<EmbeddingService, EmbeddingProtocol> = {
  ollama: {
    path: '/api/embed',
    body: ({ model, dimensions }, texts) => ({
      ...{ model, input: texts, truncate: true },
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    vectors: ({ embeddings }) => embeddings,
    complaint: ({ error }) => error,
  },
  openai: {
    path: '/embeddings',
    body: ({ model, dimensions }, texts) => ({
      ...{ model, input: texts, encoding_format: 'float' },
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    vectors: inOrder,
    complaint: ({ error }) =>
      typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error,
  },
  voyage: {
    path: '/embeddings',
    body: ({ model, dimensions }, texts, kind) => ({
      ...{ model, input: texts, input_type: kind, truncation: true },
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    }),
    vectors: inOrder,
    complaint: ({ detail }) => detail,
  },
};
