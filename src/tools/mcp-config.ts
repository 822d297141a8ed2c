import type { ToolAccess } from './endpoint.ts';

/** The file a CLI is given (`claude --mcp-config`, and whoever reads the same shape): the run's own tools, as `pulse`. */
export interface McpConfig {
  mcpServers: { pulse: { type: 'http'; url: string; headers: { Authorization: string } } };
}

/** Holds the run's token: write it where only this user reads, and never into the worktree's commits. */
export function mcpConfig({ url, token }: Pick<ToolAccess, 'url' | 'token'>): McpConfig {
  const headers = { Authorization: `Bearer ${token}` };
  return { mcpServers: { pulse: { type: 'http', url: `${url}/mcp`, headers } } };
}
