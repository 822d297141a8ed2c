/** How a run gets what was said before it (docs/protocol/context.md, Strategies). */

export const CONTEXT_STRATEGIES = ['none', 'prefetch', 'mcp', 'hybrid'] as const;
export type ContextStrategy = (typeof CONTEXT_STRATEGIES)[number];

/** What a run with `mcp` or `hybrid` may call. */
export const CONTEXT_TOOLS = ['pulse_context_search', 'pulse_context_turn', 'semantic_search'] as const;

/** They have no agent, or one that must know nothing but what it is shown. */
const ROLES_WITHOUT = new Set(['setup', 'merge', 'baseline', 'preflight', 'reviewer']);

/** The nine work tools of a pulse have the search among them, with any strategy (docs/protocol/workflow.md, Work tools). */
const ROLES_THAT_SEARCH = new Set(['pulse']);

export function isSearching(role: string): boolean {
  return ROLES_THAT_SEARCH.has(role);
}

export function strategyOf(role: string, chosen: ContextStrategy): ContextStrategy {
  return ROLES_WITHOUT.has(role) ? 'none' : chosen;
}

export function isPrefetched(strategy: ContextStrategy): boolean {
  return strategy === 'prefetch' || strategy === 'hybrid';
}

export function hasContextTools(strategy: ContextStrategy): boolean {
  return strategy === 'mcp' || strategy === 'hybrid';
}
