/** Settings of git as a file. They come from git's own list of them, so every value is one line or is quoted as git does. */

export interface Setting {
  /** As `git config --list` spells it: `section.sub.section.name`. */
  key: string;
  /** `null`: the name alone, which means true. */
  value: string | null;
}

export function writeSettings(settings: readonly Setting[]): string {
  return settings.map(writeSetting).join('');
}

function writeSetting({ key, value }: Setting): string {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  const section = key.slice(0, first);
  const name = key.slice(last + 1);
  const sub = first === last ? null : key.slice(first + 1, last);
  const head = sub === null ? `[${section}]` : `[${section} "${sub.replace(/["\\]/g, '\\$&')}"]`;
  return `${head}\n\t${value === null ? name : `${name} = ${quote(value)}`}\n`;
}

function quote(value: string): string {
  const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `"${escaped}"`;
}
