/** stdout is data, stderr is talk. Neither lets through what a terminal would act on. */
import type { WriteStream } from 'node:tty';
import { escapeControls } from '../domain/control-characters.ts';
import { callOf } from '../terminal/call.ts';
import { printable } from '../terminal/printable.ts';
import { createStyle, type Style, wantsColor } from '../terminal/style.ts';

export interface Output {
  isJson: boolean;
  /** A line, or several, of data. */
  data(text: string): void;
  /** One line of JSON on stdout. */
  json(value: unknown): void;
  /** A line, or several, for the person. */
  talk(text: string): void;
  stdout: Side;
  stderr: Side;
}

export interface Side {
  stream: WriteStream;
  /** A terminal that understands cursor movement. */
  isTerminal: boolean;
  style: Style;
  columns(): number;
  /** Calls a person who looks elsewhere. Nothing where it is no terminal. */
  call(words: string): void;
}

export interface OutputOptions {
  isJson: boolean;
  environment: NodeJS.ProcessEnv;
}

export function createOutput({ isJson, environment }: OutputOptions): Output {
  const stdout = side(process.stdout, environment);
  const stderr = side(process.stderr, environment);
  return {
    isJson,
    data: (text) => void stdout.stream.write(`${printable(text)}\n`),
    json: (value) => void stdout.stream.write(`${escapeControls(JSON.stringify(value))}\n`),
    talk: (text) => void stderr.stream.write(`${printable(text)}\n`),
    stdout,
    stderr,
  };
}

function side(stream: WriteStream, environment: NodeJS.ProcessEnv): Side {
  const isTty = stream.isTTY === true;
  return {
    stream,
    isTerminal: isTty && environment.TERM !== 'dumb',
    style: createStyle(wantsColor(isTty, environment)),
    columns: () => (isTty && stream.columns > 0 ? stream.columns : 80),
    call: (words) => void (isTty && environment.TERM !== 'dumb' && stream.write(callOf(words, environment))),
  };
}
