/**
 * What an operation takes, as data: each field with its text and its bounds, once. HTTP and MCP make their schemas of
 * it, the command line its options, TypeScript its types. Nothing is imported here, so that help costs nothing.
 */

export type Surface = 'http' | 'mcp' | 'cli';
export type FieldKind =
  | 'id'
  | 'text'
  | 'path'
  | 'integer'
  | 'number'
  | 'usd'
  | 'duration'
  | 'flag'
  | 'choice'
  | 'texts'
  | 'reference'
  | 'object';

/** How a field is described; the rest of it follows from its kind. */
export interface FieldText {
  help: string;
  /** Its name in JSON, where that is not its key. */
  wire?: string;
  /** Its name in a path of HTTP. */
  pathName?: string;
  /** On the command line: the option and, for a value, how help shows it: `max-iterations N`. */
  option?: string;
  /** On the command line: the word after the command that it is. */
  argument?: string;
  /** On the command line: a switch for each value, with its text. Of a flag the first is yes, the second no. */
  switches?: Readonly<Record<string, string>>;
  /** Over HTTP, what a text must be, and the error text for another one. */
  pattern?: { matches: RegExp; says: string };
  /** The surfaces that have it. Default: all. */
  on?: readonly Surface[];
  /** Values that only a person may give: they widen what a session may do. */
  personValues?: readonly unknown[];
}

export interface Field<T = unknown, R extends boolean = boolean, K extends FieldKind = FieldKind>
  extends FieldText {
  kind: K;
  isRequired: R;
  /** Of a text its length, of a number its value, of `texts` the length of each. */
  min?: number;
  max?: number;
  choices?: readonly string[];
  /** Only for the compiler: what the value is in TypeScript. */
  readonly type?: T;
}

export type Fields = Readonly<Record<string, Field>>;

type RequiredKeys<F extends Fields> = {
  [K in keyof F]: F[K]['isRequired'] extends true ? K : never;
}[keyof F];
type TypeOf<F> = F extends Field<infer T> ? T : never;

/** The value of all fields, by their keys. */
export type InputOf<F extends Fields> = { [K in RequiredKeys<F>]: TypeOf<F[K]> } & {
  [K in Exclude<keyof F, RequiredKeys<F>>]?: TypeOf<F[K]>;
};

/** The field that says what the operation is about: TypeScript takes it first. */
export type IdKeyOf<F extends Fields> = {
  [K in keyof F]: F[K] extends { kind: infer Kind } ? (FieldKind extends Kind ? never : K) : never;
}[keyof F];

type Optional<T> = Field<T, false>;
type Id = Field<string, false, 'id'>;

type Bounds = Pick<Field, 'min' | 'max' | 'choices'>;

function field<T>(kind: FieldKind, about: FieldText, bounds: Bounds = {}): Optional<T> {
  return { kind, isRequired: false, ...about, ...bounds };
}

export function required<T, K extends FieldKind>(optional: Field<T, false, K>): Field<T, true, K> {
  return { ...optional, isRequired: true };
}

export function text(max: number, about: FieldText): Optional<string> {
  return field('text', about, { min: 1, max });
}

/** A folder; over HTTP and MCP it must be absolute. */
export function path(about: FieldText): Optional<string> {
  return field('path', about, { min: 1, max: 4096 });
}

export function integer({ min, max }: { min: number; max: number }, about: FieldText): Optional<number> {
  return field('integer', about, { min, max });
}

export function seconds({ max }: { max: number }, about: FieldText): Optional<number> {
  return field('number', about, { min: 0, max });
}

/** An amount above 0; `null`: no limit. */
export function usd(about: FieldText): Optional<number | null> {
  return field('usd', about, { max: 1_000_000_000_000 });
}

/** Milliseconds, above 0 unless `min` says that it may be 0; outside of TypeScript `90s`, `10m`, `2h`. */
export function duration(about: FieldText, { min }: { min?: 0 } = {}): Optional<number> {
  return field('duration', about, { min });
}

export function flag(about: FieldText): Optional<boolean> {
  return field('flag', about);
}

export function choice<const T extends string>(choices: readonly T[], about: FieldText): Optional<T> {
  return field('choice', about, { choices });
}

/** Several texts, each of at most `max` characters; no more than 50. */
export function texts(max: number, about: FieldText): Optional<string[]> {
  return field('texts', about, { min: 1, max });
}

/** An id that another service gave: text, or the number it is there. */
export function reference(about: FieldText): Optional<string> {
  return field('reference', about, { min: 1, max: 200 });
}

/** A value with a schema of its own, which its operation names. */
export function object<T = unknown>(about: FieldText): Optional<T> {
  return field('object', about);
}

/** What the operation is about: the id of a session, or a part of it; the id of a task. */
export function id(max: number, about: FieldText): Id {
  return { kind: 'id', isRequired: false, ...about, min: 1, max };
}

/** The fields that a surface has, with their keys. */
export function fieldsOn<F extends Fields>(fields: F, surface: Surface): [keyof F & string, Field][] {
  return Object.entries(fields).filter(([, { on }]) => on === undefined || on.includes(surface));
}

/** What JSON calls it. */
export function wireName(key: string, { wire }: Field): string {
  return wire ?? key;
}
