/** JSON with comments and trailing commas, read with the place of each member, so that one can be put back as it was. */

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  kind: 'object';
  members: readonly Member[];
  start: number;
  end: number;
}

export interface Member {
  key: string;
  value: JsonValue;
  /** Where the value stands in the text. */
  start: number;
  end: number;
}

const MAX_DEPTH = 60;

/** `null`: it is no object, it is broken, or a key stands twice: tools disagree about which one counts. */
export function readJsonObject(text: string): JsonObject | null {
  const reader = new Reader(text);
  try {
    reader.skip();
    const value = reader.value(0);
    reader.skip();
    return reader.at === text.length && isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

export function memberOf(object: JsonObject, key: string): Member | undefined {
  return object.members.find((member) => member.key === key);
}

/** The same text for the same value, however it is laid out. */
export function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${value.members.map((each) => `${JSON.stringify(each.key)}:${canonical(each.value)}`).join(',')}}`;
}

class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  skip(): void {
    const blank = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    blank.lastIndex = this.at;
    this.at += blank.exec(this.#text)![0].length;
  }

  value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw new SyntaxError('too deep');
    const character = this.#text[this.at];
    if (character === '{') return this.#object(depth);
    if (character === '[') return this.#array(depth);
    const plain = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;
    plain.lastIndex = this.at;
    const found = plain.exec(this.#text);
    if (found === null) throw new SyntaxError('no value');
    this.at += found[0].length;
    return JSON.parse(found[0]) as string | number | boolean | null;
  }

  #object(depth: number): JsonObject {
    const start = this.at++;
    const members: Member[] = [];
    const keys = new Set<string>();
    for (;;) {
      this.skip();
      if (this.#text[this.at] === '}') break;
      const key = this.value(depth + 1);
      if (typeof key !== 'string' || keys.has(key)) throw new SyntaxError('no key, or one that stands twice');
      keys.add(key);
      this.skip();
      this.#expect(':');
      this.skip();
      const from = this.at;
      members.push({ key, value: this.value(depth + 1), start: from, end: this.at });
      this.skip();
      if (this.#text[this.at] === ',') this.at++;
      else if (this.#text[this.at] !== '}') throw new SyntaxError('no end of an object');
    }
    return { kind: 'object', members, start, end: ++this.at };
  }

  #array(depth: number): JsonValue[] {
    this.at++;
    const values: JsonValue[] = [];
    for (;;) {
      this.skip();
      if (this.#text[this.at] === ']') break;
      values.push(this.value(depth + 1));
      this.skip();
      if (this.#text[this.at] === ',') this.at++;
      else if (this.#text[this.at] !== ']') throw new SyntaxError('no end of an array');
    }
    this.at++;
    return values;
  }

  #expect(character: string): void {
    if (this.#text[this.at] !== character) throw new SyntaxError(`no ${character}`);
    this.at++;
  }
}
