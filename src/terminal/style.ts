/** Colours, or none: NO_COLOR, a pipe and a dumb terminal get plain text. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function createStyle(isColored: boolean): Style {
  const wrap = (on: number, off: number) => (text: string) =>
    isColored && text !== '' ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    green: wrap(32, 39),
    yellow: wrap(33, 39),
    cyan: wrap(36, 39),
  };
}

export function wantsColor(isTerminal: boolean, environment: NodeJS.ProcessEnv): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment;
  if (NO_COLOR) return false;
  if (FORCE_COLOR && FORCE_COLOR !== '0') return true;
  return isTerminal && TERM !== 'dumb';
}
