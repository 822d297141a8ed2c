/**
 * How many tokens a model's context holds, for agents that do not say. Of models that can be had with a larger one it is the
 * smaller: who believes a context full too early hands over, who believes it empty for too long fails in the middle.
 */

const CONTEXT_WINDOWS: readonly [prefix: string, tokens: number][] = [
  ['claude-', 200_000],
  ['gpt-5', 272_000],
  ['gpt-4.1', 1_000_000],
  ['qwen3-', 262_144],
  ['gemini-2.0-', 1_048_576],
  ['gemini-2.5-', 1_048_576],
  ['gemini-3', 1_048_576],
];

/** By the model's own name, with or without its providers (`openrouter/anthropic/…`). `null`: unknown. */
export function contextWindowOf(model: string | null): number | null {
  const name = model?.slice(model.lastIndexOf('/') + 1) ?? '';
  return CONTEXT_WINDOWS.find(([prefix]) => name.startsWith(prefix))?.[1] ?? null;
}
