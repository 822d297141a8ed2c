/** How the numbers of a session are written, everywhere the same. */

const DIGITS = 7;
const AFTER_POINT = 3;
const SHORT = 12;

/** What was read stays as it is; a mean is rounded to seven digits, or three after the point if that is more. */
export function formatFigure(value: number): string {
  const exact = String(value);
  if (exact.length <= SHORT || !Number.isFinite(value)) return exact;
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  return String(Number(value.toPrecision(Math.min(17, Math.max(DIGITS, whole + AFTER_POINT)))));
}

/** With its sign; `null`: there is none. */
export function formatDelta(delta: number | null): string {
  if (delta === null) return '';
  return delta > 0 ? `+${formatFigure(delta)}` : formatFigure(delta);
}

export function formatShare(share: number): string {
  const percent = 100 * share;
  const digits = Math.abs(percent) < 10 ? 2 : 1;
  return `${percent > 0 ? '+' : ''}${percent.toFixed(digits)} %`;
}
