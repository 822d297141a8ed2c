/** GET /metrics, in Prometheus' text format. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { SESSION_STATUSES } from '../domain/status.ts';
import type { Pulse } from '../pulse.ts';

export interface MetricsOptions {
  pulse: Pick<Pulse, 'figures'>;
  runners: () => number;
}

type DelayHistogram = ReturnType<typeof monitorEventLoopDelay>;

export function createMetrics({ pulse, runners }: MetricsOptions): () => Promise<string> {
  let delay: DelayHistogram | null = null;
  return async () => {
    const { sessions, spentUsd, tokens, iterationsSettled } = await pulse.figures();
    // Measured from one scrape to the next, the first time from nothing.
    delay ??= startMeasuring();
    const lag = { mean: delay.mean, p99: delay.percentile(99), max: delay.max };
    delay.reset();
    const { rss, heapUsed } = process.memoryUsage();
    return [
      metric('pulse_sessions', 'gauge', 'Sessions in the store, by status.', [
        ...SESSION_STATUSES.map((status) => [`{status="${status}"}`, sessions[status] ?? 0] as const),
      ]),
      metric(
        'pulse_iterations_settled_total',
        'counter',
        'Iterations that have an outcome.',
        iterationsSettled,
      ),
      metric('pulse_spent_usd_total', 'counter', 'Money spent, as far as agents tell.', spentUsd),
      metric('pulse_tokens_total', 'counter', 'Tokens used.', tokens),
      metric('pulse_runners', 'gauge', 'Sessions that this process drives.', runners()),
      metric('process_resident_memory_bytes', 'gauge', 'Memory of this process.', rss),
      metric('nodejs_heap_used_bytes', 'gauge', 'Heap in use.', heapUsed),
      metric('process_uptime_seconds', 'gauge', 'Since this process started.', process.uptime()),
      metric('nodejs_eventloop_lag_seconds', 'gauge', 'Delay of the event loop since the last scrape.', [
        ['{stat="mean"}', seconds(lag.mean)],
        ['{stat="p99"}', seconds(lag.p99)],
        ['{stat="max"}', seconds(lag.max)],
      ]),
    ].join('');
  };
}

type Samples = number | (readonly [labels: string, value: number])[];

function metric(name: string, type: 'gauge' | 'counter', help: string, samples: Samples): string {
  const lines = typeof samples === 'number' ? ([['', samples]] as const) : samples;
  const values = lines.map(([labels, value]) => `${name}${labels} ${value}\n`).join('');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${values}`;
}

function startMeasuring(): DelayHistogram {
  const histogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  return histogram;
}

function seconds(nanoseconds: number): number {
  return Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0;
}
