/** A line of the table. Each measurement is a process of its own, so that none is slowed by another's memory. */

export interface Row {
  what: string;
  measured: string;
  /** What it is held against, measured in the same run unless it says otherwise. */
  beside: string;
  result: string;
  target: string;
  /** `null`: there is no target. */
  isMet: boolean | null;
}

/** Hands the lines to whoever started the measurement. */
export function tell(rows: readonly Row[]): void {
  process.stdout.write(`${JSON.stringify(rows)}\n`);
}

export function ms(value: number): string {
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value).toLocaleString('en')} ms`;
}

export function times(value: number): string {
  return `${value.toFixed(2)}×`;
}
