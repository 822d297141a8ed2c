import { resolve } from 'node:path';
import { readFromRun, refuseUnasked } from '../../cli/ask-run.ts';
import type { CommandContext } from '../../cli/command-spec.ts';
import { openPulse } from '../../cli/open-pulse.ts';
import { refuseInsideRun } from '../../cli/person-only.ts';
import { PulseError } from '../../domain/errors.ts';
import type { Pulse } from '../../pulse.ts';
import { sanitizeLine } from '../../terminal/text.ts';
import { localTime } from '../../terminal/time.ts';
import type { EmbedderReport } from '../embedding/turn-embeddings.ts';
import { CONTEXT_ACTIONS, type ContextAction } from './commands.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, environment } = context;
  const action = input.argument('ACTION') as ContextAction;
  if (CONTEXT_ACTIONS[action].access === 'person') refuseInsideRun(`context ${action}`, environment);
  if (action === 'search' && (await searchInRun(context))) return 0;
  refuseUnasked(`context ${action}`, environment);
  await using pulse = await openPulse(context);
  const actions: Record<ContextAction, () => Promise<void>> = {
    import: () => importTurns(pulse, context),
    search: () => search(pulse, context),
    code: () => code(pulse, context),
    turns: () => listTurns(pulse, context),
    slice: () => slice(pulse, context),
  };
  await actions[action]();
  return 0;
}

async function importTurns(pulse: Pulse, context: CommandContext): Promise<void> {
  const { cwd, output } = context;
  const given = words(context, {});
  const paths = given.map((path) => resolve(cwd, path));
  const imported = await pulse.context.importTurns({ project_key: projectHere(context), paths });
  const named = (file: string): string => {
    const at = paths.findIndex((path) => file === path || file.startsWith(`${path}/`));
    return at === -1 ? file : given[at] + file.slice(paths[at]!.length);
  };
  const skipped = imported.skipped.map((each) => ({ ...each, file: named(each.file) }));
  if (output.isJson) return output.json({ ...imported, skipped });
  const { conversations, turns, added } = imported;
  for (const { file, line, reason } of skipped) output.talk(`skipped ${file}:${line}: ${reason}`);
  output.data(`${conversations} conversations, ${turns} turns, ${added} of them new.`);
}

/** Whether the run's own tool has answered. */
async function searchInRun(context: CommandContext): Promise<boolean> {
  const query = words(context, { least: 1 }).join(' ');
  const found = await readFromRun<FoundTurns>(context.environment, 'pulse_context_search', { query });
  if (found !== null) showTurns(context, found);
  return found !== null;
}

async function search(pulse: Pulse, context: CommandContext): Promise<void> {
  const query = words(context, { least: 1 }).join(' ');
  showTurns(context, await pulse.context.searchTurns({ project_key: projectHere(context), query }));
}

type FoundTurns = Awaited<ReturnType<Pulse['context']['searchTurns']>>;

function showTurns({ output }: CommandContext, { results, meaning, embedder }: FoundTurns): void {
  if (output.isJson) {
    output.json({ results, meaning, ...(embedder ? { embedder } : {}) });
    return;
  }
  const { style } = output.stdout;
  for (const { turn_id, role, phase, created_at, excerpt } of results)
    output.data(
      `${style.dim(`${turn_id}  ${localTime(created_at)}  ${role} ${phase}`)}\n  ${sanitizeLine(excerpt)}`,
    );
  if (results.length === 0) output.talk('Nothing was said about it.');
  if (meaning === 'learning')
    output.talk(style.dim('by words alone: what this project is about is still being learnt'));
  if (embedder) output.talk(style.dim(embedderWords(embedder)));
}

function embedderWords({ service, model, state, reason }: EmbedderReport): string {
  const words = `embedder ${service} ${model}: ${EMBEDDER_WORDS[state]}`;
  return reason === null ? words : sanitizeLine(`${words} (${reason})`);
}

const EMBEDDER_WORDS = {
  ready: 'ready',
  partial: 'partial (not all turns have been placed yet)',
  replaced: 'being filled (the model before answers until then)',
  away: 'away (words answered alone)',
} as const;

async function code(pulse: Pulse, context: CommandContext): Promise<void> {
  const { output } = context;
  const query = words(context, { least: 1 }).join(' ');
  const found = await pulse.context.searchCode({
    project_key: projectHere(context),
    query,
    wait_ms: PERSON_WAITS_MS,
  });
  if (output.isJson) return output.json(found);
  const { style } = output.stdout;
  for (const { path, line, text } of found.results)
    output.data(`${sanitizeLine(path)}${style.dim(`:${line}:`)} ${sanitizeLine(text)}`);
  if (found.results.length === 0) output.talk('No code is about it.');
  output.talk(style.dim(INDEX_WORDS[found.index]));
}

/** When the command is over, nobody works on the index. */
const PERSON_WAITS_MS = 3_000;
const INDEX_WORDS = {
  lexical: 'index: lexical (by words alone; the index is being built)',
  partial: 'index: partial (not all files are indexed yet; ask again for more)',
  ready: 'index: ready',
  stale: 'index: stale (files have changed since)',
} as const;

async function slice(pulse: Pulse, context: CommandContext): Promise<void> {
  const { output, input } = context;
  const [turn] = words(context, { least: 1, most: 1 });
  const policy = input.text('policy');
  const found = await pulse.context.createSlice(turn!, { project_key: projectHere(context), policy });
  if (output.isJson) return output.json(found);
  output.data(`${found.slice_id}  ${found.node_count} turns, ${found.edges.length} edges`);
  for (const id of found.turn_ids) output.data(id);
}

async function listTurns(pulse: Pulse, context: CommandContext): Promise<void> {
  const { output } = context;
  words(context, { most: 0 });
  const { turns } = await pulse.context.listTurns({ project_key: projectHere(context) });
  if (output.isJson) return output.json({ turns });
  for (const { id, role, phase, salience, created_at } of turns)
    output.data(`${id}  ${localTime(created_at)}  ${role} ${phase} ${salience.toFixed(2)}`);
  if (turns.length === 0) output.talk('There are no turns yet. pulse context import reads transcripts.');
}

function projectHere({ input, cwd }: CommandContext): string {
  return resolve(cwd, input.text('path') ?? '.');
}

function words({ input }: CommandContext, { least = 0, most = Number.POSITIVE_INFINITY }): string[] {
  const given = input.words('WHAT');
  const action = input.argument('ACTION');
  if (given.length < least)
    throw new PulseError('usage', `pulse context ${action} needs one more word.`, {
      hint: 'pulse help context',
    });
  if (given.length > most)
    throw new PulseError('usage', `pulse context ${action} does not know what to do with "${given[most]}".`);
  return given;
}
