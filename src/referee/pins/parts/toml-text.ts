/** A TOML file cut into its statements: which table each stands in, which key it sets. Values are kept as they are written. */

export interface TomlTable {
  /** Empty for what stands before the first header. */
  path: readonly string[];
  isArray: boolean;
  /** The header with what stands above it; empty for the first table. */
  header: string;
  statements: TomlStatement[];
}

export interface TomlStatement {
  /** From the root: the table's path and the key's. */
  path: readonly string[];
  /** With the comments above it, and its line's end. */
  text: string;
  /** Without them, for comparing. */
  bare: string;
}

/** `null`: it is no TOML that this reader is certain of. */
export function readToml(text: string): TomlTable[] | null {
  const tables: TomlTable[] = [{ path: [], isArray: false, header: '', statements: [] }];
  let [from, at] = [0, 0];
  while (at < text.length) {
    const blank = /(?:[ \t\r\n\uFEFF]|#[^\n]*)*/y;
    blank.lastIndex = at;
    at += blank.exec(text)![0].length;
    if (at >= text.length) break;
    const start = at;
    const header = text[at] === '[' ? readHeader(text, at) : null;
    const statement = header === null ? readStatement(text, at) : null;
    if (header === null && statement === null) return null;
    at = lineEnd(text, (header ?? statement)!.end);
    if (at < 0) return null;
    const whole = text.slice(from, at);
    if (header !== null) {
      tables.push({ path: header.path, isArray: header.isArray, header: whole, statements: [] });
    } else if (statement !== null) {
      const table = tables.at(-1)!;
      const path = [...table.path, ...statement.path];
      table.statements.push({ path, text: whole, bare: text.slice(start, statement.end) });
    }
    from = at;
  }
  const rest = text.slice(from);
  const last = tables.at(-1)!;
  const lastStatement = last.statements.at(-1);
  // What stands below the last statement stays with it.
  if (lastStatement) lastStatement.text += rest;
  else last.header += rest;
  return tables;
}

function readHeader(text: string, at: number): { path: string[]; isArray: boolean; end: number } | null {
  const isArray = text[at + 1] === '[';
  const key = readKey(text, at + (isArray ? 2 : 1));
  if (key === null) return null;
  const close = isArray ? ']]' : ']';
  if (!text.startsWith(close, key.end)) return null;
  return { path: key.path, isArray, end: key.end + close.length };
}

function readStatement(text: string, at: number): { path: string[]; end: number } | null {
  const key = readKey(text, at);
  if (key === null || text[key.end] !== '=') return null;
  const end = skipValue(text, key.end + 1, 0);
  return end === null ? null : { path: key.path, end };
}

const KEY = /[ \t]*(?:([A-Za-z0-9_-]+)|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')[ \t]*/y;

function readKey(text: string, from: number): { path: string[]; end: number } | null {
  const path: string[] = [];
  for (let at = from; ; at++) {
    KEY.lastIndex = at;
    const found = KEY.exec(text);
    if (found === null) return null;
    const [whole, bare, quoted, literal] = found;
    // An escape may spell any name.
    if (quoted?.includes('\\')) return null;
    path.push((bare ?? quoted ?? literal)!);
    at += whole.length;
    if (text[at] !== '.') return { path, end: at };
  }
}

const STRING = /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const BARE = /[^\s,#[\]{}"'=]+(?:[ \t]+\d[\d:.]*(?:Z|[+-]\d\d:\d\d)?)?/y;
const MAX_DEPTH = 40;

/** Where the value ends; `null`: it does not. */
function skipValue(text: string, from: number, depth: number): number | null {
  if (depth > MAX_DEPTH) return null;
  const at = skipBlanks(text, from, depth > 0);
  const character = text[at];
  if (character === '[' || character === '{') return skipBrackets(text, at, depth);
  const pattern = character === '"' || character === "'" ? STRING : BARE;
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? null : at + found[0].length;
}

function skipBrackets(text: string, open: number, depth: number): number | null {
  const isTable = text[open] === '{';
  const close = isTable ? '}' : ']';
  let at = open + 1;
  for (;;) {
    at = skipBlanks(text, at, true);
    if (text[at] === close) return at + 1;
    if (isTable) {
      const key = readKey(text, at);
      if (key === null || text[key.end] !== '=') return null;
      at = key.end + 1;
    }
    const end = skipValue(text, at, depth + 1);
    if (end === null) return null;
    at = skipBlanks(text, end, true);
    if (text[at] === ',') at++;
    else if (text[at] !== close) return null;
  }
}

function skipBlanks(text: string, from: number, overLines: boolean): number {
  const blank = overLines ? /(?:[ \t\r\n]|#[^\n]*)*/y : /[ \t]*/y;
  blank.lastIndex = from;
  return from + blank.exec(text)![0].length;
}

/** After the newline; -1 where something else stands in the line. */
function lineEnd(text: string, from: number): number {
  const rest = /[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/y;
  rest.lastIndex = from;
  const found = rest.exec(text);
  return found === null ? -1 : from + found[0].length;
}
