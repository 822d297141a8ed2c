import { keepStart } from './kept-text.ts';

/** The fields that say what a call is about, the most telling first. */
const TELLING = ['file_path', 'path', 'command', 'cmd', 'pattern', 'query', 'url', 'description', 'signal'];
const MAX_LENGTH = 120;

/** One line on what a tool was called for; `undefined` if its input does not say. */
export function toolSummary(input: unknown): string | undefined {
  const told = toldBy(input);
  return told === undefined ? undefined : oneLine(told);
}

/** The summary for people and, if it is shortened, the whole text: two calls with one summary may differ. */
export function aboutCall(input: unknown): { summary?: string; target?: string } {
  const told = toldBy(input);
  if (told === undefined) return {};
  const summary = oneLine(told);
  return summary === told ? { summary } : { summary, target: told };
}

function toldBy(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const fields = input as Record<string, unknown>;
  const told = TELLING.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof told === 'string' ? told : undefined;
}

function oneLine(text: string): string {
  return keepStart(text.replace(/\s+/g, ' ').trim(), MAX_LENGTH);
}
