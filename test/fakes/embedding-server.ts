/** Speaks as Ollama, OpenAI and Voyage do over HTTP, and misbehaves as they can. Takes nothing that they would refuse. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Spoken = 'ollama' | 'openai' | 'voyage';

export interface EmbeddingAsk {
  spoken: Spoken;
  model: string;
  texts: string[];
  /** Of Voyage alone. */
  kind?: string;
  authorization: string | undefined;
}

/** What it does instead of answering; `null`: it answers. */
export type Misbehaviour = (ask: EmbeddingAsk) => Partial<Answered> | 'hang' | null;

interface Answered {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

export interface EmbeddingServer extends AsyncDisposable {
  url(spoken: Spoken): string;
  readonly asks: EmbeddingAsk[];
  misbehave(how: Misbehaviour | null): void;
}

/** Words of one line mean the same; each line is a dimension. */
const MEANINGS = [
  ['car', 'automobile', 'vehicle', 'engine'],
  ['money', 'price', 'cost', 'invoice'],
  ['garden', 'flower', 'rose', 'plant'],
  ['ship', 'harbour', 'boat', 'vessel'],
];
const MODELS: Record<Spoken, Record<string, { dimension: number; isFixed?: boolean; most?: number }>> = {
  ollama: { 'nomic-embed-text': { dimension: 16 }, 'all-minilm': { dimension: 8 } },
  openai: {
    'text-embedding-3-small': { dimension: 32 },
    'text-embedding-ada-002': { dimension: 24, isFixed: true },
  },
  voyage: { 'voyage-code-3': { dimension: 16 }, 'voyage-4-lite': { dimension: 12 } },
};
const MOST_TEXTS = { ollama: Number.POSITIVE_INFINITY, openai: 2_048, voyage: 1_000 };
const FIELDS: Record<Spoken, Record<string, (value: unknown) => boolean>> = {
  ollama: { truncate: isBoolean, dimensions: isCount, keep_alive: () => true, options: () => true },
  openai: { encoding_format: (value) => value === 'float', dimensions: isCount, user: isText },
  voyage: {
    input_type: (value) => value === null || value === 'query' || value === 'document',
    truncation: isBoolean,
    output_dimension: isCount,
    output_dtype: (value) => value === 'float',
    encoding_format: (value) => value === null,
  },
};
export const EMBEDDING_KEY = 'pa-0123456789abcdefghijklmnopqrstuvwxyz-0123456789';

export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const asks: EmbeddingAsk[] = [];
  let misbehaviour: Misbehaviour | null = null;
  const server = createServer((request, response) => {
    void (async () => {
      const spoken = spokenAt(request);
      if (!spoken) return send(response, { status: 404, body: '404 page not found' });
      const body = JSON.parse(await textOf(request)) as Record<string, unknown>;
      const texts = typeof body.input === 'string' ? [body.input] : (body.input as string[]);
      const ask = {
        ...{ spoken, model: String(body.model), texts, authorization: request.headers.authorization },
        ...(spoken === 'voyage' ? { kind: body.input_type as string } : {}),
      };
      asks.push(ask);
      const instead = misbehaviour?.(ask) ?? null;
      if (instead === 'hang') return;
      const answered = refusal(ask, body) ?? answer(ask, body);
      send(response, { ...answered, ...instead });
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asks,
    url: (spoken) => `http://127.0.0.1:${port}${spoken === 'ollama' ? '' : `/${spoken}/v1`}`,
    misbehave(how) {
      misbehaviour = how;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function spokenAt({ method, url, headers }: IncomingMessage): Spoken | null {
  if (method !== 'POST' || !headers['content-type']?.startsWith('application/json')) return null;
  if (url === '/api/embed') return 'ollama';
  if (url === '/openai/v1/embeddings') return 'openai';
  return url === '/voyage/v1/embeddings' ? 'voyage' : null;
}

function refusal(ask: EmbeddingAsk, body: Record<string, unknown>): Answered | null {
  const { spoken, model, texts, authorization } = ask;
  if (spoken !== 'ollama' && authorization !== `Bearer ${EMBEDDING_KEY}`)
    return refuse(spoken, 401, `Incorrect API key provided: ${authorization?.slice(7)}.`);
  const known = MODELS[spoken][model];
  if (!known)
    return refuse(
      spoken,
      spoken === 'voyage' ? 400 : 404,
      `model "${model}" not found, try pulling it first`,
    );
  for (const [name, value] of Object.entries(body)) {
    if (name === 'model' || name === 'input') continue;
    if (!FIELDS[spoken][name]?.(value)) return refuse(spoken, 400, `Unknown or wrong argument: ${name}`);
  }
  const isWrong = !Array.isArray(texts) || texts.length === 0 || texts.length > MOST_TEXTS[spoken];
  if (isWrong || texts.some((text) => typeof text !== 'string' || text === ''))
    return refuse(spoken, 400, "'$.input' is invalid.");
  if (body.dimensions !== undefined && known.isFixed)
    return refuse(spoken, 400, 'This model does not support specifying dimensions.');
  return null;
}

/** Each in its own form. */
function refuse(spoken: Spoken, status: number, said: string): Answered {
  const forms = {
    ollama: { error: said },
    openai: { error: { message: said, type: 'invalid_request_error', param: null, code: null } },
    voyage: { detail: said },
  };
  return { status, headers: {}, body: forms[spoken] };
}

function answer({ spoken, model, texts }: EmbeddingAsk, body: Record<string, unknown>): Answered {
  const asked = (body.dimensions ?? body.output_dimension) as number | undefined;
  const dimension = asked ?? MODELS[spoken][model]!.dimension;
  const vectors = texts.map((text) => vectorOf(text, dimension));
  const tokens = texts.join(' ').split(/\s+/).length;
  if (spoken === 'ollama')
    return {
      status: 200,
      headers: {},
      body: {
        model,
        embeddings: vectors,
        total_duration: 14_143_917,
        load_duration: 1_019_500,
        prompt_eval_count: tokens,
      },
    };
  // Nothing says that the list is in order.
  const data = vectors.map((embedding, index) => ({ object: 'embedding', embedding, index })).reverse();
  const usage =
    spoken === 'openai' ? { prompt_tokens: tokens, total_tokens: tokens } : { total_tokens: tokens };
  return { status: 200, headers: {}, body: { object: 'list', data, model, usage } };
}

function vectorOf(text: string, dimension: number): number[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const vector = new Array<number>(dimension).fill(0.01);
  for (const [axis, meaning] of MEANINGS.entries())
    for (const word of words) if (meaning.includes(word.replace(/s$/, ''))) vector[axis]! += 1;
  return vector;
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Partial<Answered>): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}
function isText(value: unknown): boolean {
  return typeof value === 'string';
}
function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0;
}
