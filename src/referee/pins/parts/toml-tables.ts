/** Tables and keys of a TOML file that are protected. */
import { createPart, type Part } from './part.ts';
import { readToml, type TomlStatement, type TomlTable } from './toml-text.ts';

/**
 * Whether a key is protected, by its path from the root, as in `['tool', 'pytest']`. A table whose path is protected is
 * so with all that stands in it. A path that leads to a protected one counts too: an inline table could hold it.
 */
export type ProtectedPath = (path: readonly string[], statement: TomlStatement | null) => boolean;

export function tomlTables(name: string, protects: ProtectedPath): Part {
  return createPart({
    name,
    read(content) {
      const tables = readToml(content);
      if (tables === null) return null;
      return tables
        .map((table) => tableText(table, protects))
        .filter((text) => text !== '')
        .sort(byTable)
        .join('\n');
    },
    merge(base, claim) {
      const [before, claimed] = [readToml(base), readToml(claim)];
      return before && claimed && mergeTables(before, claimed, protects);
    },
  });
}

/** Paths with `*` for any name: `tool.pytest.**` and what leads to it is what `tool.pytest` stands for. */
export function pathsBelow(patterns: readonly string[]): ProtectedPath {
  const wanted = patterns.map((pattern) => pattern.split('.'));
  return (path, statement) =>
    wanted.some((names) => {
      const shared = Math.min(names.length, path.length);
      for (let at = 0; at < shared; at++) if (names[at] !== '*' && names[at] !== path[at]) return false;
      // A shorter path leads there only if it is a key with a value: a header alone says nothing.
      return path.length >= names.length || statement !== null;
    });
}

function isWhole(table: TomlTable, protects: ProtectedPath): boolean {
  return table.path.length > 0 && protects(table.path, null);
}

function tableText(table: TomlTable, protects: ProtectedPath): string {
  const whole = isWhole(table, protects);
  const kept = table.statements.filter((statement) => whole || protects(statement.path, statement));
  // An empty table says something, too: pytest looks no further once it has found one.
  if (kept.length === 0 && !whole) return '';
  const name = table.path.map((each) => JSON.stringify(each)).join('.');
  return [table.isArray ? `[[${name}]]` : `[${name}]`, ...kept.map(({ bare }) => bare)].join('\n');
}

/** Tables may stand in any order; those of one array keep theirs, because sorting is stable. */
function byTable(left: string, right: string): number {
  const [one, two] = [left.split('\n', 1)[0]!, right.split('\n', 1)[0]!];
  return one < two ? -1 : Number(one > two);
}

function mergeTables(before: TomlTable[], claimed: TomlTable[], protects: ProtectedPath): string | null {
  const isFree = (statement: TomlStatement) => !protects(statement.path, statement);
  const paths = (tables: readonly TomlTable[]) =>
    new Set(tables.flatMap(({ statements }) => statements.filter((each) => !isFree(each)).map(keyOf)));
  const [own, changed] = [paths(before), paths(claimed)];
  // What one of the two protects is the base's, also where only its value makes it so.
  const isBase = (statement: TomlStatement) => own.has(keyOf(statement)) || changed.has(keyOf(statement));
  const free = claimed
    .filter((table) => !isWhole(table, protects))
    .map((table) => ({ ...table, statements: table.statements.filter((each) => !isBase(each)) }));
  const added: string[] = [];
  for (const table of before) {
    if (isWhole(table, protects)) {
      added.push(textOf(table));
      continue;
    }
    const statements = table.statements.filter(isBase);
    // A key above all tables that makes a table: it may meet another way to write the same.
    const isMet = ({ path }: TomlStatement) => free.some((each) => each.path[0] === path[0]);
    if (table.path.length === 0 && statements.some(isMet)) return null;
    const place = free.find((each) => samePath(each, table));
    if (place !== undefined) place.statements.unshift(...statements);
    else if (statements.length > 0) added.push(textOf({ ...table, statements }));
  }
  return [...free.map(textOf), ...added].map(endLine).join('');
}

function keyOf({ path }: TomlStatement): string {
  return JSON.stringify(path);
}

function samePath(one: TomlTable, other: TomlTable): boolean {
  return JSON.stringify(one.path) === JSON.stringify(other.path) && one.isArray === other.isArray;
}

function textOf({ header, statements }: TomlTable): string {
  return [header, ...statements.map(({ text }) => text)].map(endLine).join('');
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
