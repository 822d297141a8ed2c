import { createEmbedder, EmbeddingError } from '../context/embedding/embedder.ts';
import { embedderOf } from '../operations/open-context.ts';
import type { Finding } from './machine-findings.ts';

const ANSWER_MS = 5_000;

/** Whether the service that places turns answers, where one is configured. */
export async function* embedderFindings(environment: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  // A config that cannot be read is told elsewhere.
  const settings = await embedderOf(environment).catch(() => null);
  if (!settings) return;
  const subject = 'embedder';
  const named = `${settings.service} ${settings.model}`;
  try {
    const [vector] = await createEmbedder(settings, environment).embed({
      ...{ texts: ['text'], kind: 'query', limitMs: ANSWER_MS, signal: new AbortController().signal },
    });
    yield { level: 'ok', subject, text: `${named} answers, ${vector!.length} dimensions` };
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    const hint = 'Turns are searched by words meanwhile. See docs/context.md.';
    yield { level: 'warn', subject, text: `${named}: ${error.message}`, hint };
  }
}
