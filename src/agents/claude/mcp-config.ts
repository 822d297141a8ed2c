import type { RunTools } from '../contract.ts';

/** The file for `claude --mcp-config`: the run's own tools, as `pulse`. */
export interface McpConfig {
  mcpServers: {
    pulse: {
      type: 'http';
      url: string;
      headers: { Authorization: string };
      /** The model sees the tools from the start, without a tool search. */
      alwaysLoad: true;
    };
  };
}

/** Holds the run's token: write it where only this user can read it, and never into a commit. */
export function mcpConfig({ url, token }: Pick<RunTools, 'url' | 'token'>): McpConfig {
  const headers = { Authorization: `Bearer ${token}` };
  return { mcpServers: { pulse: { type: 'http', url: `${url}/mcp`, headers, alwaysLoad: true } } };
}
