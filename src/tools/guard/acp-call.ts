/** What an ACP agent asks permission for. The protocol names kinds of calls; what a call will do, each agent tells its own way. */
import * as z from 'zod';
import { argumentsOf, type HookCall, pathsIn, scriptIn, text } from './call-arguments.ts';

const list = <T extends z.ZodType>(item: T) => z.array(item).nullish().catch(null);
const path = z.object({ path: z.string().catch('') });

const toolCall = z.object({
  toolCallId: z.string().nullish().catch(null),
  kind: z.string().nullish().catch(null),
  name: z.string().nullish().catch(null),
  title: z.string().nullish().catch(null),
  rawInput: z.unknown().optional(),
  locations: list(path),
  content: list(z.object({ type: z.string().catch(''), path: z.string().nullish().catch(null) })),
});

/** They write nothing, wherever they look. */
const READERS = ['read', 'search', 'fetch', 'think'];

export function readAcpCall(input: unknown): HookCall {
  const { data } = toolCall.safeParse(input);
  if (!data) return { id: null, tool: '', cwd: null, scripts: [], writes: [] };
  const { kind, title } = data;
  const args = argumentsOf(data.rawInput);
  const isCommand = kind === 'execute';
  // gemini gives the command as the title alone.
  const script = scriptIn(args) ?? (isCommand ? text(title) : null);
  const tool = data.name || kind || 'tool';
  const diffs = (data.content ?? []).flatMap((each) => (each.type === 'diff' ? (text(each.path) ?? []) : []));
  const named = (data.locations ?? []).flatMap((each) => text(each.path) ?? []);
  const isWriter = !isCommand && !READERS.includes(kind ?? '');
  return {
    id: data.toolCallId ?? null,
    tool,
    cwd: text(args.cwd) ?? text(args.workdir),
    scripts: script === null || !(isCommand || isWriter) ? [] : [script],
    writes: isWriter
      ? [...new Set([...diffs, ...named, ...pathsIn(args)])].map((each) => ({ path: each, tool }))
      : [],
  };
}
