/** A time as other programs write it, with its zone and up to nine digits of a second, as milliseconds. */

/** `NaN` where it is none. Digits below a millisecond count: programs create several issues within one. */
export function instantMs(time: string): number {
  const parts = TIME.exec(time);
  if (!parts) return Number.NaN;
  const whole = Date.parse(`${parts[1]}${parts[3] ?? 'Z'}`);
  return parts[2] === undefined ? whole : whole + Number(`0.${parts[2]}`) * 1000;
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/;
