/** Whether an experiment of research costs the same at the end of a long session as at its beginning. */
import { parseArgs } from 'node:util';
import { createPulse } from '../src/pulse.ts';
import { createScratch } from '../test/fakes/scratch.ts';
import { ms, tell, times } from './row.ts';
import { median, quantile, steps } from './statistics.ts';

const { values } = parseArgs({ options: { experiments: { type: 'string', default: '1000' } } });
const EXPERIMENTS = Number(values.experiments);
const FROM = 10;
/** How many experiments stand for "the 10th" and for "the last". */
const WINDOW = Math.min(100, Math.floor(EXPERIMENTS / 4));

const long = await runSession(EXPERIMENTS);
// A minute later the machine may be another: the beginning is measured on both sides of the end.
const short = await runSession(FROM + WINDOW);
const beginning = ({ took, spent }: Taken): Taken => ({
  took: took.slice(FROM, FROM + WINDOW),
  spent: spent.slice(FROM, FROM + WINDOW),
});
const begun = [beginning(long), beginning(short)];
const first = begun.flatMap(({ took }) => took);
const last = long.took.slice(-WINDOW);
const [early, late] = [median(first), median(last)];
tell([
  {
    what: `(i) experiment ${EXPERIMENTS.toLocaleString('en')} of research, instant agent and metric`,
    measured: ms(late),
    beside: `experiment ${FROM} of the same session and of one right after it: ${ms(early)} (${begun.map(({ took }) => ms(median(took))).join(' and ')}; medians of ${WINDOW}; lower quartiles ${ms(quantile(last, 0.25))} and ${ms(quantile(first, 0.25))}; processor time of Pulse itself ${ms(median(long.spent.slice(-WINDOW)))} and ${ms(median(begun.flatMap(({ spent }) => spent)))})`,
    result: times(late / early),
    target: '≤ 1.2×',
    isMet: late / early <= 1.2,
  },
]);

interface Taken {
  took: number[];
  spent: number[];
}

/** How long each experiment took, from one settled to the next, and this process's share of it; every fifth is kept. */
async function runSession(experiments: number): Promise<Taken> {
  using scratch = createScratch();
  scratch.file('repo/cost', '1000000\n');
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', 'what is measured');
  const settled: number[] = [];
  const used: number[] = [];
  await using pulse = await createPulse({
    environment: scratch.environment,
    trace: (point) => {
      if (point !== 'settle:after') return;
      settled.push(performance.now());
      const { user, system } = process.cpuUsage();
      used.push((user + system) / 1_000);
    },
  });
  const { session } = await pulse.research.start({
    content: {
      goal: 'Lower the cost',
      metric: { name: 'cost', direction: 'lower', verifyCommand: 'cat cost' },
      scope: { inScope: ['cost'] },
      strategy: ['count down', 'count up', 'jump'],
    },
    iterations: experiments,
    path: scratch.repository,
    command:
      'IFS=-; set -- $PULSE_UNIT; n=$2; echo "Idea $n"; if [ $((n % 5)) = 0 ]; then echo $((1000000 - n)); else echo $((1000000 + n)); fi > cost',
    createdBy: 'cli',
  });
  await pulse.run(session.id, new AbortController().signal);
  const { progress } = await pulse.research.rows(session.id);
  if (progress.keeps !== Math.floor(experiments / 5) || progress.iteration !== experiments)
    throw new Error(`${progress.iteration} experiments, ${progress.keeps} kept`);
  // The first is the baseline.
  return { took: steps(settled.slice(1)), spent: steps(used.slice(1)) };
}
