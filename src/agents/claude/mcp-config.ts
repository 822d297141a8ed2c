import type { RunTools } from '../contract.ts';

/** The file a CLI is given (`claude --mcp-config`, and whoever reads the same shape): the run's own tools, as `pulse`. */
export interface McpConfig {
  mcpServers: {
    pulse: {
      type: 'http';
      url: string;
      headers: { Authorization: string };
      /** claude: in the model's sight from the start, not behind its tool search. */
      alwaysLoad: true;
    };
  };
}

/** Holds the run's token: write it where only this user reads, and never into the worktree's commits. */
export function mcpConfig({ url, token }: Pick<RunTools, 'url' | 'token'>): McpConfig {
  const headers = { Authorization: `Bearer ${token}` };
  return { mcpServers: { pulse: { type: 'http', url: `${url}/mcp`, headers, alwaysLoad: true } } };
}
