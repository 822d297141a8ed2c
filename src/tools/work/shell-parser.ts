/**
 * Reads a shell script as a shell would: which commands it starts, with which words, and which files it opens for
 * writing. It expands nothing but what is certain, never throws, and never runs anything.
 */

export interface ShellWord {
  /** Quotes and escapes removed. What a variable or a command would put there is left out. */
  text: string;
  /** Whether that is all of the word. */
  isWhole: boolean;
}

export interface ShellCommand {
  words: ShellWord[];
  /** What it redirects output to. */
  writes: ShellWord[];
  /** A here-document's text. */
  input: string | null;
}

/** In the order in which they stand, those inside substitutions and subshells included. */
export function parseShell(script: string, variables: Readonly<Record<string, string>> = {}): ShellCommand[] {
  const reader = new Reader(script, variables);
  reader.readList(null);
  return reader.commands;
}

interface Heredoc {
  command: ShellCommand;
  end: string;
  isQuoted: boolean;
  stripsTabs: boolean;
}

/** Words after which another command begins. */
const OPENERS = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{', 'time', 'coproc']);
const MAX_DEPTH = 50;

class Reader {
  readonly commands: ShellCommand[] = [];
  #at = 0;
  #depth = 0;
  #heredocs: Heredoc[] = [];
  readonly #script: string;
  readonly #variables: Readonly<Record<string, string>>;

  constructor(script: string, variables: Readonly<Record<string, string>>) {
    this.#script = script;
    this.#variables = variables;
  }

  /** Commands up to the closing character, which is consumed, or the end. */
  readList(closing: ')' | '`' | null): void {
    if (++this.#depth > MAX_DEPTH) this.#at = this.#script.length;
    let command = newCommand();
    const flush = (): void => {
      if (command.words.length + command.writes.length > 0 || command.input !== null)
        this.commands.push(command);
      command = newCommand();
    };
    while (this.#at < this.#script.length) {
      const char = this.#script[this.#at]!;
      if (char === closing) {
        this.#at++;
        break;
      }
      if (char === '\n') {
        this.#at++;
        this.#readHeredocs();
        flush();
      } else if (char === ' ' || char === '\t' || char === '\r') this.#at++;
      else if (this.#startsWith('\\\n')) this.#at += 2;
      else if (char === '#') this.#at = this.#indexOrEnd('\n');
      else if (char === '<' || char === '>' || this.#startsWith('&>')) this.#readRedirection(command);
      else if (char === ';' || char === '&' || char === '|') {
        this.#at++;
        flush();
      } else if (char === '(') {
        this.#at++;
        flush();
        this.readList(')');
      } else if (char === ')') {
        this.#at++;
        flush();
      } else this.#takeWord(command);
    }
    flush();
    this.#depth--;
  }

  #takeWord(command: ShellCommand): void {
    const from = this.#at;
    const word = this.#readWord();
    const isBare = this.#script.slice(from, this.#at) === word.text;
    if (command.words.length === 0 && isBare && OPENERS.has(word.text)) return;
    // `2>` and the like: the number belongs to the redirection.
    if (isBare && /^\d+$/.test(word.text) && /[<>]/.test(this.#script[this.#at] ?? '')) return;
    command.words.push(word);
  }

  #readRedirection(command: ShellCommand): void {
    const operator = /^(?:&>>?|>>|>\||>&|<>|<<<|<<-?|<&|[<>]\(|[<>])/.exec(
      this.#script.slice(this.#at, this.#at + 3),
    )![0];
    this.#at += operator.length;
    if (operator.endsWith('(')) {
      this.readList(')');
      return;
    }
    this.#skipBlanks();
    const from = this.#at;
    const target = this.#readWord();
    if (operator === '<<' || operator === '<<-') {
      const isQuoted = this.#script.slice(from, this.#at) !== target.text;
      this.#heredocs.push({ command, end: target.text, isQuoted, stripsTabs: operator === '<<-' });
      command.input = '';
      return;
    }
    const isDescriptor = operator === '>&' && /^(\d+|-)$/.test(target.text);
    if (operator.includes('>') && !isDescriptor) command.writes.push(target);
  }

  #readHeredocs(): void {
    const waiting = this.#heredocs;
    this.#heredocs = [];
    for (const { command, end, isQuoted, stripsTabs } of waiting) {
      const body: string[] = [];
      while (this.#at < this.#script.length) {
        const stop = this.#indexOrEnd('\n');
        const line = this.#script.slice(this.#at, stop);
        this.#at = stop + 1;
        if ((stripsTabs ? line.replace(/^\t+/, '') : line) === end) break;
        body.push(line);
      }
      command.input = body.join('\n');
      // Substitutions in it are run.
      if (!isQuoted) this.commands.push(...substitutionsIn(command.input, this.#variables, this.#depth));
    }
  }

  #readWord(): ShellWord {
    const word: ShellWord = { text: '', isWhole: true };
    while (this.#at < this.#script.length) {
      const char = this.#script[this.#at]!;
      if (/[\s;&|()<>]/.test(char)) break;
      if (char === "'") this.#readSingleQuoted(word);
      else if (char === '"') this.#readDoubleQuoted(word);
      else if (char === '\\') {
        const next = this.#script[this.#at + 1] ?? '';
        if (next !== '\n') word.text += next;
        this.#at += 2;
      } else if (char === '`') this.#readBackticks(word);
      else if (char === '$') this.#readDollar(word, false);
      else {
        word.text += char;
        this.#at++;
      }
    }
    return word;
  }

  #readSingleQuoted(word: ShellWord): void {
    const end = this.#indexOrEnd("'", this.#at + 1);
    word.text += this.#script.slice(this.#at + 1, end);
    this.#at = end + 1;
  }

  #readDoubleQuoted(word: ShellWord): void {
    this.#at++;
    while (this.#at < this.#script.length) {
      const char = this.#script[this.#at]!;
      if (char === '"') {
        this.#at++;
        return;
      }
      if (char === '\\') {
        const next = this.#script[this.#at + 1] ?? '';
        if (next !== '\n') word.text += '$`"\\'.includes(next) ? next : `\\${next}`;
        this.#at += 2;
      } else if (char === '`') this.#readBackticks(word);
      else if (char === '$') this.#readDollar(word, true);
      else {
        word.text += char;
        this.#at++;
      }
    }
  }

  /** `$(…)`, `${…}`, `$NAME`, `$'…'`, or a plain dollar sign. */
  #readDollar(word: ShellWord, isQuoted: boolean): void {
    const rest = this.#script.slice(this.#at + 1, this.#at + 200);
    if (rest.startsWith('(')) {
      this.#at += 2;
      word.isWhole = false;
      this.readList(')');
      return;
    }
    if (!isQuoted && rest.startsWith("'")) {
      this.#readAnsiQuoted(word);
      return;
    }
    const simple = /^(?:\{(\w+)\}|(\w+))/.exec(rest);
    if (simple) {
      this.#at += 1 + simple[0].length;
      this.#putVariable(word, simple[1] ?? simple[2]!);
    } else if (rest.startsWith('{')) {
      this.#at = this.#indexOrEnd('}') + 1;
      word.isWhole = false;
    } else if (/^[@*#?$!-]/.test(rest)) {
      this.#at += 2;
      word.isWhole = false;
    } else {
      word.text += '$';
      this.#at++;
    }
  }

  #putVariable(word: ShellWord, name: string): void {
    const value = Object.hasOwn(this.#variables, name) ? this.#variables[name] : undefined;
    if (value === undefined) word.isWhole = false;
    else word.text += value;
  }

  #readAnsiQuoted(word: ShellWord): void {
    const quoted = /^\$'((?:[^'\\]|\\[\s\S])*)'?/.exec(this.#script.slice(this.#at))!;
    this.#at += quoted[0].length;
    word.text += quoted[1]!.replace(
      /\\(?:x([\da-f]{1,2})|([0-7]{1,3})|([\s\S]))/gi,
      (_, hex, octal, char) => {
        if (hex) return String.fromCharCode(Number.parseInt(hex, 16));
        if (octal) return String.fromCharCode(Number.parseInt(octal, 8));
        return { n: '\n', t: '\t', r: '\r' }[char as string] ?? char;
      },
    );
  }

  /** Backslashes before a backtick belong to the outer reading. */
  #readBackticks(word: ShellWord): void {
    const quoted = /^`((?:[^`\\]|\\[\s\S])*)`?/.exec(this.#script.slice(this.#at))!;
    this.#at += quoted[0].length;
    word.isWhole = false;
    if (this.#depth < MAX_DEPTH) {
      this.commands.push(...parseShell(quoted[1]!.replace(/\\([`$\\])/g, '$1'), this.#variables));
    }
  }

  #skipBlanks(): void {
    while (/[ \t]/.test(this.#script[this.#at] ?? '')) this.#at++;
  }

  #startsWith(text: string): boolean {
    return this.#script.startsWith(text, this.#at);
  }

  #indexOrEnd(text: string, from = this.#at): number {
    const index = this.#script.indexOf(text, from);
    return index === -1 ? this.#script.length : index;
  }
}

function newCommand(): ShellCommand {
  return { words: [], writes: [], input: null };
}

/** The commands of `$(…)` and backticks in a text that is otherwise data. */
function substitutionsIn(
  text: string,
  variables: Readonly<Record<string, string>>,
  depth: number,
): ShellCommand[] {
  if (depth >= MAX_DEPTH || !/\$\(|`/.test(text)) return [];
  // Between double quotes a shell does to it exactly what it does to a here-document.
  const [holder, ...rest] = parseShell(`: "${text.replaceAll('"', '\\"')}"`, variables).reverse();
  return holder?.words[0]?.text === ':' ? rest.reverse() : [];
}
