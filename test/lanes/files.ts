/** Which test files belong to which lane. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Start a dozen or more processes at once, so nothing with a deadline may run beside them. */
export const CROWDED = ['test/e2e/many-processes.test.ts', 'test/crash/fleet-chaos.test.ts'];

/** Need the agents themselves: `npm run test:agents` installs and runs them. */
export const REAL_AGENTS = 'test/real-agents/**';

/** Take long, and are not for the inner loop. */
export const SLOW = ['test/crash/**', 'test/e2e/**'];

/** Draws cases itself, or by a suite that does. */
const DRAWS =
  /import \{[^}]*\b(IS_MORE|draw|drawFor|runsOf|seedsOf|surviveSuite|kill(Suite|Loops|Review))\b[^}]*\} from '\.{1,2}\//;

/** The files that leave cases to the lane `rest`. */
export function listDrawn(): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).filter(
    (file) => !file.startsWith('test/lanes/'),
  );
  return files.filter((file) => DRAWS.test(readFileSync(join(ROOT, file), 'utf8'))).toSorted();
}
