/** From a task's commit to its agent's first act, which is to ask the time (about a millisecond by itself). */
import { createPulse } from '../src/pulse.ts';
import { createScratch } from '../test/fakes/scratch.ts';
import { ms, tell } from './row.ts';
import { quantile } from './statistics.ts';

const TASKS = 200;
const WARM_UP = 10;
const POLL_MS = 5_000;

using scratch = createScratch();
const written: number[] = [];
let branch = '';
{
  await using pulse = await createPulse({
    environment: scratch.environment,
    onCommit: (label) =>
      void (label === 'dispatch' && written.push(performance.timeOrigin + performance.now())),
  });
  const { session } = await pulse.start({
    goal: 'Say when you start',
    path: scratch.repository,
    createdBy: 'cli',
    agent: 'command',
    command: 'date +%s%N >>started.txt; echo "<signal>CONTINUE</signal>"',
    maxIterations: TASKS,
  });
  branch = session.branch_name;
  await pulse.run(session.id, new AbortController().signal);
}
const started = scratch
  .git('show', `${branch}:started.txt`)
  .split('\n')
  .map((line) => Number(line) / 1e6);
const took = started.map((moment, index) => moment - written[index]!).slice(WARM_UP);
const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
tell([
  {
    what: '(c) task written → agent started',
    measured: `p50 ${ms(p50)}, p99 ${ms(p99)}`,
    beside: `a poll every ${POLL_MS / 1000} s (by arithmetic): p50 ${ms(POLL_MS / 2)}, p99 ${ms(POLL_MS * 0.99)}`,
    result: `${Math.round(POLL_MS / 2 / p50)}× sooner`,
    target: 'p50 ≤ 10 ms, p99 ≤ 50 ms',
    isMet: p50 <= 10 && p99 <= 50,
  },
]);
