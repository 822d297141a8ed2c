/** The API over a whole Pulse on a real repository, asked without a port. */
import { type Api, type ApiOptions, createApi } from '../../src/api/api.ts';
import type { Session } from '../../src/store/sessions.ts';
import { makeScene, type Scene } from '../engine/scene.ts';

export const TOKEN = 'the-token-of-the-tests';
export const TRUSTED = { authorization: `Bearer ${TOKEN}` };

export interface Answer {
  status: number;
  headers: Headers;
  // The tests say what they expect of it.
  // biome-ignore lint/suspicious/noExplicitAny: a parsed answer
  json: any;
}

export interface ApiScene extends Scene {
  app: Api;
  /** The sessions that were handed to a runner. */
  handed: string[];
  /** What changes something is asked with the token, unless a stranger asks. */
  ask(
    method: string,
    path: string,
    call?: { body?: unknown; headers?: Record<string, string>; isStranger?: boolean },
  ): Promise<Answer>;
  /** Starts over HTTP, with the token. */
  post(script: string, input?: Record<string, unknown>): Promise<Session>;
}

export interface ApiSceneOptions extends Partial<ApiOptions> {
  environment?: Record<string, string>;
}

export async function makeApiScene({ environment, ...options }: ApiSceneOptions = {}): Promise<ApiScene> {
  const scene = await makeScene({ environment });
  const handed: string[] = [];
  const { pulse, root } = scene;
  const runSession = (id: string): void => void handed.push(id);
  const app = createApi({ pulse, token: TOKEN, runSession, ...options });

  const ask: ApiScene['ask'] = async (method, path, { body, headers = {}, isStranger } = {}) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const token = method === 'GET' || isStranger ? {} : TRUSTED;
    const answer = await app.request(path, {
      method,
      body: text,
      headers: { ...type, ...token, ...headers },
    });
    const content = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json');
    return { status: answer.status, headers: answer.headers, json: isJson ? JSON.parse(content) : content };
  };

  return {
    ...scene,
    app,
    handed,
    ask,
    async post(script, input = {}) {
      const body = { goal: 'the goal', projectPath: root, command: script, ...input };
      const { status, json } = await ask('POST', '/api/pulse/start', { body, headers: TRUSTED });
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(json)}`);
      return json.session;
    },
  };
}
