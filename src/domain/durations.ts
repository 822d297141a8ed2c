import { PulseError } from './errors.ts';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90s`, `10m`, `2h`, `1h30m` in milliseconds; `0s` only where nothing is long enough. Throws `usage` for anything else. */
export function parseDuration(text: string, { least = 1 }: { least?: 0 | 1 } = {}): number {
  const trimmed = text.trim();
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(trimmed)) {
    throw new PulseError('usage', `"${text}" is not a duration.`, { hint: 'Write it like 90s, 10m or 2h.' });
  }
  let total = 0;
  for (const [, value, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(value) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }
  const rounded = Math.round(total);
  if (rounded < least || !Number.isSafeInteger(rounded)) {
    throw new PulseError('usage', `"${text}" is not a usable duration.`, {
      hint: 'It must be longer than 0.',
    });
  }
  return rounded;
}

/** Milliseconds as a person would say them: `0.4s`, `12s`, `3m 05s`, `2h 10m`. */
export function formatDuration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`;
}
