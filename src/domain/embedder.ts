/** A service that places texts by what they mean: `embedder` of the user's own config. */
import * as z from 'zod';

export const EMBEDDING_SERVICES = ['ollama', 'openai', 'voyage'] as const;
export type EmbeddingService = (typeof EMBEDDING_SERVICES)[number];

/** Where each is, unless the config says otherwise. Other servers speak OpenAI's protocol too. */
export const SERVICE_URLS: Record<EmbeddingService, string> = {
  ollama: 'http://127.0.0.1:11434',
  openai: 'https://api.openai.com/v1',
  voyage: 'https://api.voyageai.com/v1',
};

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

export const embedderSchema = z
  .strictObject({
    service: z.enum(EMBEDDING_SERVICES),
    model: z
      .string()
      .trim()
      .regex(/^[\w./:@-]{1,200}$/, 'must be the name of a model'),
    url: z
      .url({ protocol: /^https?$/ })
      .refine((url) => !/^\w+:\/\/[^/?#]*@/.test(url), 'must hold no name and no password')
      .refine((url) => !/[?#]/.test(url), 'must end with its path')
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
    /** The key itself stands in a variable of the environment. */
    keyEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')
      .optional(),
    /** Asked of models that have more than one. */
    dimensions: z.int().min(8).max(4096).optional(),
  })
  .refine(({ url, keyEnv }) => keyEnv === undefined || !url?.startsWith('http:') || isLoopback(url), {
    path: ['url'],
    message: 'must be an https address: a key is sent there',
  });
export type EmbedderSettings = z.infer<typeof embedderSchema>;

function isLoopback(url: string): boolean {
  return LOOPBACK.includes(new URL(url).hostname);
}
