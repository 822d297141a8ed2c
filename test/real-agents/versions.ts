/** The agents that the real suite runs, in the versions it was written against, and where they are kept. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface PinnedAgent {
  package: string;
  version: string;
  /** Below the folder it is installed in. */
  program: string;
}

export const PINNED = {
  claude: {
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    program: 'node_modules/.bin/claude',
  },
  codex: { package: '@openai/codex', version: '0.166.0', program: 'node_modules/.bin/codex' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', program: 'node_modules/.bin/gemini' },
  opencode: { package: 'opencode-ai', version: '1.18.33', program: 'node_modules/.bin/opencode' },
  pi: { package: '@mariozechner/pi-coding-agent', version: '0.73.1', program: 'node_modules/.bin/pi' },
  qwen: { package: '@qwen-code/qwen-code', version: '0.15.10', program: 'node_modules/.bin/qwen' },
  copilot: { package: '@github/copilot', version: '1.0.102', program: 'node_modules/.bin/copilot' },
} as const satisfies Record<string, PinnedAgent>;
export type PinnedName = keyof typeof PINNED;

/** What runs when nobody names any. */
export const PINNED_NAMES = Object.keys(PINNED) as PinnedName[];

/** `PULSE_TEST_AGENTS_DIR`, else a folder of the user's cache: never inside the repository. */
export function agentFolder(name: PinnedName): string {
  const { PULSE_TEST_AGENTS_DIR, XDG_CACHE_HOME } = process.env;
  const cache =
    PULSE_TEST_AGENTS_DIR || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'pulse-test-agents');
  return join(cache, `${name}-${PINNED[name].version}`);
}

export function agentProgram(name: PinnedName): string {
  return join(agentFolder(name), PINNED[name].program);
}
