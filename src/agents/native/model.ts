/** The model behind the settings. Loads the SDK of its provider alone. */
import type { LanguageModel } from 'ai';
import { boundedFetch } from './bounded-fetch.ts';
import type { NativeSettings } from './settings.ts';

export async function createModel({
  provider,
  model,
  baseUrl,
  apiKey,
}: NativeSettings): Promise<LanguageModel> {
  const options = { baseURL: baseUrl ?? undefined, apiKey: apiKey ?? undefined, fetch: boundedFetch() };
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic(options)(model);
  }
  if (provider === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI(options)(model);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({ ...options, name: provider, baseURL: baseUrl ?? '', includeUsage: true })(
    model,
  );
}
