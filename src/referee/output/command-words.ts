/** Which tools a verification command names, as far as its words tell. */

export interface CommandWords {
  /** The words of each simple command, without variables and without what merely starts another program. */
  commands: readonly (readonly string[])[];
  /** Where a leading `cd` goes, relative to where the command starts. */
  cd: string | null;
}

/** Start another program and print nothing of their own that would be parsed. */
const STARTERS = new Set([
  'exec',
  'time',
  'timeout',
  'env',
  'sudo',
  'nice',
  'command',
  'cross-env',
  'npx',
  'bunx',
  'xvfb-run',
]);
const RUNNERS: Record<string, readonly string[]> = {
  npm: ['exec', 'x'],
  pnpm: ['exec', 'dlx'],
  yarn: ['exec', 'dlx', 'run'],
  bun: ['x', 'run'],
  uv: ['run'],
  poetry: ['run'],
  pipenv: ['run'],
  pdm: ['run'],
};

export function readCommand(command: string): CommandWords {
  const simple = splitSimple(command);
  const [first] = simple;
  const cd = first?.[0] === 'cd' && first[1] !== undefined ? first[1] : null;
  return { commands: simple.map(unwrap).filter((words) => words.length > 0), cd };
}

function unwrap(words: readonly string[]): string[] {
  let rest = [...words];
  for (;;) {
    const [word = '', next = ''] = rest;
    const name = baseName(word);
    if (/^\w+=/.test(word)) rest = rest.slice(1);
    else if (STARTERS.has(name)) rest = withoutOptions(rest.slice(1));
    else if (RUNNERS[name]?.includes(next)) rest = withoutOptions(rest.slice(2));
    else if (/^(?:python|py)[\d.]*$/.test(name) && next === '-m') rest = rest.slice(2);
    else if (name === 'node' && /(?:^|\/)node_modules\//.test(next)) rest = rest.slice(1);
    else return rest.length === 0 ? [] : [name, ...rest.slice(1)];
  }
}

/** `-n 10` and a bare `60s` belong to the starter; a value that is a word is taken for the tool. */
function withoutOptions(words: string[]): string[] {
  const start = words.findIndex((word) => !/^-|^[\d.]+[smhd]?$/.test(word));
  return start === -1 ? [] : words.slice(start);
}

function baseName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:cmd|exe|bat|[cm]?js)$/, '');
}

/** Words of each simple command; quotes keep separators together. Not a shell: enough to know a tool by its name. */
function splitSimple(command: string): string[][] {
  const commands: string[][] = [[]];
  const token = /'([^']*)'|"((?:[^"\\]|\\.)*)"|(&&|\|\||[;|&\n()])|((?:[^\s'";|&()\\]|\\.)+)|\s+|./gs;
  let glue = false;
  for (const match of command.slice(0, 10_000).matchAll(token)) {
    const [, single, double, separator, bare] = match;
    const word = single ?? double ?? bare;
    const current = commands.at(-1)!;
    if (separator !== undefined) commands.push([]);
    else if (word !== undefined && glue) current[current.length - 1] += word;
    else if (word !== undefined) current.push(word);
    glue = word !== undefined;
  }
  return commands.filter((words) => words.length > 0);
}
