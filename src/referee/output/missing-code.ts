/** What a test file did not find when it was loaded, as Node.js, Vitest, Jest and Python say it. Pure. */
import { posix } from 'node:path';
import { readCommand } from './command-words.ts';
import type { CommandOutput } from './parse.ts';
import { createPathMapper, type PathMapper } from './paths.ts';
import { linesOf, plainText } from './plain-text.ts';

export interface MissingCode {
  /** A whole module, or a name that an existing one does not export. */
  what: 'module' | 'export';
  /** As the output calls it. */
  name: string;
  /** Where the module may stand, from the root; empty: it is a package that somebody else has written. */
  places: string[];
  /** Of Python: the places may stand below any folder from which modules are imported. */
  isBelowSomeRoot: boolean;
  /** It was asked for where a module was looked for by its path, and may be the name of a module as well. */
  orModule?: MissingCode;
}

const NODE_MODULE = /Cannot find module '(?<name>[^']+)' imported from '?(?<from>[^'\s]+)'?/;
const NODE_REQUIRE = /^(?:\S*Error: )?Cannot find module '(?<name>[^']+)'$/;
const REQUIRED_BY = /^- (?<from>\S.*)$/;
const NODE_EXPORT =
  /The requested module '(?<name>[^']+)' (?:does not provide an export named|is a CommonJS module)/;
const SPOKEN_IN = /^(?<from>file:\/\/\S+?):\d+$/;
const VITE_IMPORT = /Failed to resolve import "(?<name>[^"]+)" from "(?<from>[^"]+)"/;
const VITE_URL = /Failed to load url (?<name>\S+) \(resolved id: .*\) in (?<from>\S+?)\. Does the file exist/;
const JEST_MODULE = /Cannot find module '(?<name>[^']+)' from '(?<from>[^']+)'/;
const TYPED =
  /^\s*(?<from>\S+?\.[cm]?tsx?):\d+:\d+ - error TS(?<code>2307|2305): .*?[Mm]odule '"?(?<name>[^'"]+)"?'/;
const PYTHON_MODULE = /^(?:E +)?ModuleNotFoundError: No module named '(?<name>[\w.]+)'/;
const PYTHON_NAME =
  /^(?:E +)?ImportError: cannot import name '(?<name>\w+)' from '(?<module>[\w.]+)' \((?<file>.+)\)/;

const ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.jsx', '.tsx', '.json', '.vue', '.svelte'];
/** TypeScript's own files are imported by the names that they will have. */
const TYPED_ENDINGS: Record<string, string[]> = {
  '.js': ['.ts', '.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
  '.jsx': ['.tsx'],
};
const MOST = 200;

/** Each once, in the order of the output. Takes time in proportion to it. */
export function readMissingCode(run: CommandOutput): MissingCode[] {
  const lines = linesOf(plainText(run.output));
  const { cd } = readCommand(run.command);
  const map = createPathMapper({ ...run, cwd: cd === null ? run.cwd : posix.join(run.cwd ?? run.root, cd) });
  const found = new Map<string, MissingCode>();
  for (const [index, line] of lines.entries()) {
    const one = readScript(lines, index, map) ?? readPython(line, map);
    if (one) found.set(JSON.stringify([one.what, one.name, one.places]), one);
    if (found.size >= MOST) break;
  }
  return [...found.values()];
}

function readScript(lines: readonly string[], index: number, map: PathMapper): MissingCode | null {
  const line = lines[index]!;
  const told =
    NODE_MODULE.exec(line) ?? VITE_IMPORT.exec(line) ?? VITE_URL.exec(line) ?? JEST_MODULE.exec(line);
  if (told) return scriptModule('module', told.groups as unknown as Import, map);
  const typed = TYPED.exec(line)?.groups;
  if (typed) {
    const what = typed.code === '2307' ? 'module' : 'export';
    return scriptModule(what, { name: typed.name!, from: typed.from! }, map);
  }
  const required = NODE_REQUIRE.exec(line)?.groups?.name;
  if (required !== undefined) {
    const from = REQUIRED_BY.exec(lines[index + 2] ?? '')?.groups?.from;
    return scriptModule('module', { name: required, from: from ?? '' }, map);
  }
  const lacking = NODE_EXPORT.exec(line)?.groups?.name;
  if (lacking === undefined) return null;
  const spoken = lines.slice(Math.max(0, index - 12), index).findLast((before) => SPOKEN_IN.test(before));
  const from = spoken === undefined ? '' : SPOKEN_IN.exec(spoken)!.groups!.from!;
  return scriptModule('export', { name: lacking, from }, map);
}

interface Import {
  name: string;
  from: string;
}

function scriptModule(what: MissingCode['what'], { name, from }: Import, map: PathMapper): MissingCode {
  const stems = stemsOf(name, from, map);
  return { what, name, places: stems.flatMap(scriptPlaces), isBelowSomeRoot: false };
}

/** A name that is no path is a package's, except where the common aliases of a source folder stand before it. */
function stemsOf(name: string, from: string, map: PathMapper): string[] {
  const alias = /^[@~]\/(?<rest>.+)$/.exec(name)?.groups?.rest;
  if (alias !== undefined) return [alias, `src/${alias}`];
  if (name.startsWith('file://')) return [map(name)];
  // A server of modules names them by their path from its root.
  if (name.startsWith('/')) return [map(name).replace(/^\/+/, '')];
  if (!/^\.\.?(?:\/|$)/.test(name) || from === '') return [];
  return [posix.join(posix.dirname(map(from)), name)];
}

function scriptPlaces(stem: string): string[] {
  const ending = posix.extname(stem);
  if (ENDINGS.includes(ending)) {
    const bare = stem.slice(0, -ending.length);
    return [stem, ...(TYPED_ENDINGS[ending] ?? []).map((typed) => `${bare}${typed}`)];
  }
  return [stem, ...ENDINGS.map((each) => `${stem}${each}`), ...ENDINGS.map((each) => `${stem}/index${each}`)];
}

function readPython(line: string, map: PathMapper): MissingCode | null {
  const module = PYTHON_MODULE.exec(line)?.groups?.name;
  if (module !== undefined) return pythonModule(module);
  const { name, module: owner, file } = PYTHON_NAME.exec(line)?.groups ?? {};
  if (name === undefined || owner === undefined || file === undefined) return null;
  const orModule = pythonModule(`${owner}.${name}`);
  // A folder without an `__init__.py` has no file: what it lacks can only be a module.
  if (!file.endsWith('.py')) return orModule;
  return { what: 'export', name: `${owner}.${name}`, places: [map(file)], isBelowSomeRoot: false, orModule };
}

/** Of a package that is missing as a whole only its first name is told. */
function pythonModule(name: string): MissingCode {
  const stem = name.replaceAll('.', '/');
  return { what: 'module', name, places: [`${stem}.py`, `${stem}/**`], isBelowSomeRoot: true };
}
