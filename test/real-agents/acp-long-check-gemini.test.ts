/** How long the `acp` agent waits for a tool, with the real gemini at the other end; run with gemini's own suite. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gemini } from './gemini-subject.ts';
import { describeLongCheck } from './long-check.ts';
import type { Subject } from './stage.ts';
import { agentProgram } from './versions.ts';

/** An agent over ACP gets nothing of gemini's environment: what its user has set lies in its own file. */
const behindAcp: Subject = {
  ...gemini,
  user(url, home) {
    const lines = Object.entries(gemini.user(url, home)).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(home, '.gemini/.env'), lines.join(''));
    return {};
  },
};

const variables = 'GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true';
describeLongCheck(behindAcp, {
  agent: 'acp',
  command: `${variables} exec '${agentProgram('gemini')}' --acp`,
});
