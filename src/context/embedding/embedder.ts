/** One request to the service that places texts. What it answers is somebody else's: it is checked before it is used. */
import { type EmbedderSettings, SERVICE_URLS } from '../../domain/embedder.ts';
import { PROTOCOLS, type TextKind } from './protocols.ts';

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_DIMENSIONS = 8_192;
const MOST_WORDS = 200;
/** The texts themselves are at fault, or what is asked of the model. */
const REFUSED = [400, 413, 422];

/**
 * `refused`: another text may be taken. `settings`: nothing will be, until a person has changed something.
 * `away`: the same may be taken later. `keyless`: this process has not the key.
 */
export type EmbeddingFault = 'refused' | 'settings' | 'away' | 'keyless';

export class EmbeddingError extends Error {
  readonly fault: EmbeddingFault;
  /** How long the service asks to be left alone. */
  readonly afterMs: number | null;

  constructor(fault: EmbeddingFault, reason: string, afterMs: number | null = null) {
    super(reason);
    this.fault = fault;
    this.afterMs = afterMs;
  }
}

export interface EmbeddingRequest {
  texts: readonly string[];
  kind: TextKind;
  limitMs: number;
  signal: AbortSignal;
}

export interface Embedder {
  readonly settings: EmbedderSettings;
  /** One vector of length one for each text, all of as many dimensions. Throws `EmbeddingError`. */
  embed(request: EmbeddingRequest): Promise<Float32Array[]>;
}

export function createEmbedder(settings: EmbedderSettings, environment: NodeJS.ProcessEnv): Embedder {
  const protocol = PROTOCOLS[settings.service];
  const url = `${urlOf(settings)}${protocol.path}`;
  return {
    settings,
    async embed({ texts, kind, limitMs, signal }) {
      const key = keyOf(settings, environment);
      const body = JSON.stringify(protocol.body(settings, texts, kind));
      const { status, headers, json } = await post(url, {
        ...{ key, body },
        signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
      });
      if (status === 200) return vectorsOf(protocol.vectors(json), texts.length);
      throw refusalOf({ status, headers, said: protocol.complaint(json) });
    },
  };
}

export function urlOf({ service, url }: EmbedderSettings): string {
  return url ?? SERVICE_URLS[service];
}

function keyOf({ keyEnv }: EmbedderSettings, environment: NodeJS.ProcessEnv): string | null {
  if (keyEnv === undefined) return null;
  const key = environment[keyEnv];
  if (key) return key;
  throw new EmbeddingError('keyless', `the variable ${keyEnv} is not set`);
}

interface Answer {
  status: number;
  headers: Headers;
  json: Record<string, unknown>;
}

/** Follows no redirect: texts go where the config says. */
async function post(
  url: string,
  { key, body, signal }: { key: string | null; body: string; signal: AbortSignal },
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'user-agent': 'pulse-loops' },
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      body,
      redirect: 'manual',
      signal,
    });
    const { status, headers } = response;
    return { status, headers, json: await readJson(response) };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    const reason = name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? 'no answer');
    throw new EmbeddingError('away', reason);
  }
}

/** Nothing where it is no JSON, or does not end. */
async function readJson(response: Response): Promise<Record<string, unknown>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MOST_BYTES) return {};
    parts.push(part);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function refusalOf({
  status,
  headers,
  said,
}: {
  status: number;
  headers: Headers;
  said: unknown;
}): EmbeddingError {
  const reason = `HTTP ${status}${plainly(said)}`;
  if (REFUSED.includes(status)) return new EmbeddingError('refused', reason);
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const afterMs = seconds >= 0 ? seconds * 1_000 : null;
  const isLater = status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
  return new EmbeddingError(isLater ? 'away' : 'settings', reason, afterMs);
}

/** It is shown to a person. */
function plainly(said: unknown): string {
  if (typeof said !== 'string') return '';
  const words = said
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MOST_WORDS)
    .toWellFormed();
  return words === '' ? '' : `: ${words}`;
}

function vectorsOf(found: unknown, count: number): Float32Array[] {
  if (!Array.isArray(found) || found.length !== count) throw unusable('not one vector for each text');
  const dimension = Array.isArray(found[0]) ? found[0].length : 0;
  if (dimension === 0 || dimension > MOST_DIMENSIONS) throw unusable('no vectors');
  return found.map((each: unknown) => {
    if (!Array.isArray(each) || each.length !== dimension) throw unusable('vectors of different lengths');
    let squares = 0;
    for (const part of each as unknown[]) {
      if (typeof part !== 'number' || !Number.isFinite(part)) throw unusable('a vector that has no numbers');
      squares += part * part;
    }
    const length = Math.sqrt(squares);
    if (!(length > 0 && Number.isFinite(length))) throw unusable('a vector without direction');
    return Float32Array.from(each as number[], (part) => part / length);
  });
}

function unusable(what: string): EmbeddingError {
  return new EmbeddingError('away', `its answer cannot be used: ${what}`);
}
