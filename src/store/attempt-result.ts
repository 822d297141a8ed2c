/** An attempt's result as it lies in its row. */
import { type AttemptResult, attemptResultSchema } from '../domain/attempt.ts';
import { fromJson } from './store.ts';

export function readResult(stored: unknown): AttemptResult {
  return attemptResultSchema.parse(upgradeResult(fromJson<Fields>(stored)));
}

/**
 * A settled result without its texts: those are the iteration's, its evidence's and its events'. Of what the agent reported
 * with a loop's tools only `keptOwn` stays: the rest is in the loop's own rows.
 */
export function shortenResult(stored: unknown, keptOwn?: unknown): AttemptResult {
  const { run, verification, own: _, ...rest } = readResult(stored);
  return {
    ...rest,
    run: run && { ...run, finalMessage: '', checks: undefined, own: keptOwn },
    verification: verification.map((record) => ({ ...record, outputTail: '' })),
  };
}

type Fields = Record<string, unknown>;

const OF_RUNS = ['completion', 'extension', 'preflight', 'plan', 'description', 'calls'];

/** Version 0.1 wrote what belongs to a loop beside the run's own fields; such attempts may still be under way. */
function upgradeResult({ measured, preflight, ...result }: Fields): Fields {
  const found = measured ?? preflight ?? null;
  const run = result.run as Fields | null;
  if (found === null && !OF_RUNS.some((name) => run?.[name] != null)) return result;
  const { durationMs = 0 } = (measured ?? {}) as { durationMs?: number };
  return {
    ...result,
    run: run && upgradeRun(run),
    ...(found === null ? {} : { own: found, ownMs: durationMs }),
  };
}

function upgradeRun(run: Fields): Fields {
  const own = Object.fromEntries(
    OF_RUNS.filter((name) => run[name] != null).map((name) => [name, run[name]]),
  );
  const completion = run.completion as { tree: string; leftOut?: string[] } | null | undefined;
  const accepted = completion && { tree: completion.tree, leftOut: completion.leftOut };
  return { ...run, own, ...(accepted ? { accepted } : {}) };
}
