/** Every parser there is, and which of them read a given output. */
import type { CommandWords } from '../command-words.ts';
import { biome } from './biome.ts';
import { cargo } from './cargo.ts';
import { dotnet } from './dotnet.ts';
import { eslint } from './eslint.ts';
import { go } from './go.ts';
import { jest } from './jest.ts';
import { jvm } from './jvm.ts';
import { mocha } from './mocha.ts';
import { nextest } from './nextest.ts';
import { nodeTest } from './node-test.ts';
import type { OutputParser, ParserInput } from './parser.ts';
import { phpunit } from './phpunit.ts';
import { playwright } from './playwright.ts';
import { pytest } from './pytest.ts';
import { rspec } from './rspec.ts';
import { tsc } from './tsc.ts';
import { unittest } from './unittest.ts';
import { vitest } from './vitest.ts';

const PARSERS: readonly OutputParser[] = [
  tsc,
  eslint,
  biome,
  vitest,
  jest,
  mocha,
  playwright,
  nodeTest,
  pytest,
  unittest,
  go,
  cargo,
  nextest,
  dotnet,
  jvm,
  rspec,
  phpunit,
];

/** Print nothing that is an issue. */
const QUIET = new Set(['cd', 'echo', 'true', 'export', 'set', 'printf', 'mkdir', 'rm', 'cp', 'mv', 'touch']);

/** Is it known what this simple command prints? */
export function isTool(command: readonly string[]): boolean {
  return PARSERS.some((parser) => parser.runs(command));
}

/**
 * By the command's words, when they name a tool for every part of it; else (`npm test`, a script) by what the output
 * looks like, and then several may apply.
 */
export function chooseParsers(words: CommandWords, input: ParserInput): OutputParser[] {
  const isKnown = (command: readonly string[]): boolean => QUIET.has(command[0] ?? '') || isTool(command);
  const named = PARSERS.filter((parser) => words.commands.some((command) => parser.runs(command)));
  if (named.length > 0 && words.commands.every(isKnown)) return named;
  return PARSERS.filter((parser) => named.includes(parser) || parser.recognises(input));
}
