/** Which model the native agent asks, and where: from `--model`, else the environment. Pure, and loads no SDK. */
import { contextWindowOf } from '../shared/context-windows.ts';

export const PROVIDERS = ['anthropic', 'openai', 'ollama', 'compatible'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface NativeSettings {
  provider: ProviderName;
  /** As the provider calls it. */
  model: string;
  /** `null`: the provider's own address. */
  baseUrl: string | null;
  apiKey: string | null;
  contextWindow: number;
  maxSteps: number;
}

/** Why no model can be asked, in words for a person. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const OLLAMA_URL = 'http://127.0.0.1:11434/v1';
const DEFAULT_MODELS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-5.1' } as const;
/** In tokens, of a model that is not known. */
const USUAL_WINDOW = 128_000;
const MAX_STEPS = 300;

/**
 * A model is `provider/model`. Without a known provider it belongs to PULSE_NATIVE_BASE_URL, whose models may have
 * slashes in their names, or else to the provider that its name suggests. Throws `SettingsError`.
 */
export function readSettings(wanted: string | null, environment: NodeJS.ProcessEnv): NativeSettings {
  const named = wanted ?? (environment.PULSE_NATIVE_MODEL || null) ?? defaultModel(environment);
  if (named === null) throw new SettingsError(NO_MODEL);
  const { provider, model } = splitModel(named, environment);
  return {
    provider,
    model,
    baseUrl: baseUrlOf(provider, environment),
    apiKey: apiKeyOf(provider, environment),
    contextWindow:
      readCount('PULSE_NATIVE_CONTEXT_WINDOW', environment) ?? contextWindowOf(model) ?? USUAL_WINDOW,
    maxSteps: readCount('PULSE_NATIVE_MAX_STEPS', environment) ?? MAX_STEPS,
  };
}

const NO_MODEL =
  'No model to ask: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a model (--model ollama/NAME, or compatible/NAME with PULSE_NATIVE_BASE_URL).';

function defaultModel(environment: NodeJS.ProcessEnv): string | null {
  if (environment.PULSE_NATIVE_BASE_URL) return null;
  if (environment.ANTHROPIC_API_KEY) return `anthropic/${DEFAULT_MODELS.anthropic}`;
  return environment.OPENAI_API_KEY ? `openai/${DEFAULT_MODELS.openai}` : null;
}

function splitModel(
  named: string,
  environment: NodeJS.ProcessEnv,
): Pick<NativeSettings, 'provider' | 'model'> {
  const at = named.indexOf('/');
  const provider = PROVIDERS.find((name) => name === named.slice(0, Math.max(at, 0)));
  const model = provider ? named.slice(at + 1) : named;
  if (model.trim() === '') throw new SettingsError(`"${named}" names no model.`);
  if (provider) return { provider, model };
  if (environment.PULSE_NATIVE_BASE_URL) return { provider: 'compatible', model };
  if (model.startsWith('claude-')) return { provider: 'anthropic', model };
  if (/^(gpt-|o\d)/.test(model)) return { provider: 'openai', model };
  throw new SettingsError(`Who has the model "${model}"? Name it as ${PROVIDERS.join('/…, ')}/….`);
}

function baseUrlOf(provider: ProviderName, environment: NodeJS.ProcessEnv): string | null {
  const { PULSE_NATIVE_BASE_URL: own, ANTHROPIC_BASE_URL, OPENAI_BASE_URL } = environment;
  if (provider === 'anthropic') return ANTHROPIC_BASE_URL ? withVersion(ANTHROPIC_BASE_URL) : null;
  if (provider === 'openai') return OPENAI_BASE_URL || null;
  if (own) return own;
  if (provider === 'ollama') return OLLAMA_URL;
  throw new SettingsError('compatible/… needs PULSE_NATIVE_BASE_URL, such as http://127.0.0.1:8080/v1.');
}

/** Anthropic's own tools take the address without `/v1`, the SDK with it. */
function withVersion(url: string): string {
  const plain = url.replace(/\/+$/, '');
  return /\/v\d+$/.test(plain) ? plain : `${plain}/v1`;
}

function apiKeyOf(provider: ProviderName, environment: NodeJS.ProcessEnv): string | null {
  if (provider === 'anthropic') return required('ANTHROPIC_API_KEY', environment);
  if (provider === 'openai') return required('OPENAI_API_KEY', environment);
  return environment.PULSE_NATIVE_API_KEY || null;
}

function required(name: string, environment: NodeJS.ProcessEnv): string {
  const value = environment[name];
  if (value) return value;
  throw new SettingsError(`${name} is not set.`);
}

function readCount(name: string, environment: NodeJS.ProcessEnv): number | null {
  const text = environment[name];
  if (!text) return null;
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new SettingsError(`${name} must be a whole number above 0, not "${text}".`);
}
