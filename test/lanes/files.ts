/** Which test files belong to which lane. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Start a dozen or more processes at once, so nothing with a deadline may run beside them. */
export const CROWDED = [
  'test/e2e/many-processes.test.ts',
  'test/beads/many-processes.test.ts',
  'test/crash/fleet-chaos.test.ts',
];

/** Need the agents themselves: `npm run test:agents` installs and runs them. */
export const REAL_AGENTS = 'test/real-agents/**';

/** Start many processes or wait for clocks of their own: each takes more than some four seconds, too long for the inner loop. */
export const SLOW = [
  'test/crash/**',
  'test/e2e/**',
  'test/agents/{acp,host,native}.test.ts',
  'test/beads/{commands,exchange,graph,graph-properties,many-processes}.test.ts',
  'test/api/{events,fuzz,serve,workflows}.test.ts',
  'test/context/code-index/quality.test.ts',
  'test/domain/redact-properties.test.ts',
  'test/engine/{breaker,fleet,sandbox,session-git,session-stops,shared-budget,submodules-and-lfs}.test.ts',
  'test/lanes/run-lane.test.ts',
  'test/mcp/{eras,official,stdio}.test.ts',
  'test/process/supervise.test.ts',
  'test/referee/cheats.test.ts',
  'test/research-loop/{cheats,commander,commander-elsewhere,crashes,finish,noise,parallel,resumed,slot}.test.ts',
  'test/store/{postgres-contract,postgres-limits}.test.ts',
  'test/tools/guard/call-guard.test.ts',
  'test/workflow/{completion,endings,native,plan-edits,resume,session}.test.ts',
  'test/{documents,packaging}.test.ts',
];

/** Whole stories with real programs, of which `npm test` tells a third. What they tell is tested below them, too. */
export const STORIES = [
  'test/agents/native/native.test.ts',
  'test/api/{serve,workflows}.test.ts',
  'test/beads/{commands,swarm,worker}.test.ts',
  'test/coordination/commands.test.ts',
  'test/e2e/!(many-processes|secrets).test.ts',
  'test/engine/{breaker,sandbox,session-git,session-stops,submodules-and-lfs}.test.ts',
  'test/mcp/{eras,official,stdio}.test.ts',
  'test/referee/{goal-claims,held-out,pulse-claims,second-opinion}.test.ts',
  'test/research-loop/{cheats,commander-elsewhere,crashes,finish,guidance,noise,parallel,resumed,slot}.test.ts',
  'test/workflow/{completion,endings,native,plan-edits,resume,session}.test.ts',
];

/** Draws cases itself, or by a suite that does. */
const DRAWS =
  /import \{[^}]*\b(IS_ALL|IS_MORE|draw|drawFor|runsOf|seedsOf|surviveSuite|kill(Suite|Loops|Interventions|Review))\b[^}]*\} from '\.{1,2}\//;

/** The files that leave cases to the lane `rest`. */
export function listDrawn(): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).filter(
    (file) => !file.startsWith('test/lanes/'),
  );
  return files.filter((file) => DRAWS.test(readFileSync(join(ROOT, file), 'utf8'))).toSorted();
}
