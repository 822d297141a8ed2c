/** An operation as a tool: checked input, a result as text and as data, and errors with code, message and hint. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import { asPulseError, PulseError } from '../domain/errors.ts';
import { redact, redactJson } from '../domain/redact.ts';
import type { TransactionHook } from '../operations/context.ts';
import type { Fields } from '../operations/fields.ts';
import type { AnyOperation, Changed } from '../operations/operation.ts';
import type { Pulse } from '../pulse.ts';
import type { Session } from '../store/sessions.ts';
import type { McpTool } from '../tools/mcp-server.ts';
import { inToolWords } from './hints.ts';
import { readInput, toolSchema } from './tool-schema.ts';

/** Who calls, decided for each request. */
export interface Caller {
  pulse(): Promise<Pulse>;
  /** The table, where it is not the usual one. */
  operations?: readonly AnyOperation[];
  /** Gives a session that needs one a runner; resolves once that is under way. */
  runSession(session: Session): Promise<void>;
  /** Written with each start and resume. */
  take?: TransactionHook;
  /** As events record it. */
  actor: string;
  /** A person's own process, or a request that showed the token. */
  isTrusted: boolean;
  /** An agent inside a run may not do what is for people. */
  isInsideRun: boolean;
}

/** `variants`: the operations that share the tool; most have one of their own. */
export function operationTool(variants: readonly AnyOperation[], caller: Caller): McpTool {
  const { name, title, description } = variants[0]!.tool!;
  const schema = toolSchema(variants);
  return {
    name,
    title,
    description,
    input: schema,
    annotations: annotations(variants),
    async call(given, signal) {
      try {
        const { operation, input } = readInput(variants, checked(schema, given));
        requireAccess(operation, input, caller);
        const { text, data } = await perform(operation, input, { caller, signal });
        return { content: [{ type: 'text', text: redact(text) }], structuredContent: redactJson(data) };
      } catch (error) {
        return failure(asPulseError(error));
      }
    },
  };
}

function annotations(variants: readonly AnyOperation[]) {
  const readOnlyHint = variants.every(({ access, tool }) => access === 'read' && !tool?.mayChange);
  if (readOnlyHint) return { openWorldHint: false, readOnlyHint };
  const [{ tool }] = variants as [AnyOperation];
  const { isDestructive: destructiveHint = false, isIdempotent: idempotentHint = false } = tool!;
  return { openWorldHint: false, readOnlyHint, destructiveHint, idempotentHint };
}

async function perform(
  operation: AnyOperation,
  input: Record<string, unknown>,
  { caller, signal }: { caller: Caller; signal: AbortSignal },
) {
  const pulse = await caller.pulse();
  const within = operation.runsSession?.(input) ? caller.take : undefined;
  const by = { actor: caller.actor, createdBy: 'mcp' as const, within, signal };
  const result = await pulse.call(operation, { ...operation.tool?.defaults, ...input, ...by });
  const { session, next, started } = (result ?? {}) as Partial<Changed>;
  if (session && next === 'run') await caller.runSession(session);
  if (started) await caller.runSession(started);
  return operation.tell!(result, { input, runner: (id) => pulse.runner(id) });
}

/** What widens a session is a person's word too: to go without a sandbox the config asks for, to believe a new config. */
function requireAccess(operation: AnyOperation, input: Record<string, unknown>, caller: Caller): void {
  const { access, tool, fields } = operation;
  const { name } = tool!;
  if (access === 'person') requireHuman(caller, name);
  if (access === 'change') requireToken(caller, name);
  for (const [key, { personValues, wire = key }] of Object.entries(fields as Fields)) {
    const value = input[key];
    if (value === undefined || !personValues?.includes(value)) continue;
    requireHuman(caller, `${name} with ${wire}${value === true ? '' : ` ${value}`}`);
  }
}

/** Throws unless a person's own process calls, or a request that showed the token. `what` begins the sentence. */
function requireToken({ isTrusted }: Caller, what: string): void {
  if (isTrusted) return;
  throw new PulseError('unauthorized', `${what} needs the token.`, {
    hint: 'Send `Authorization: Bearer TOKEN`; the token lies in the state directory of Pulse.',
  });
}

/** Throws unless it can be a person's decision: trusted, and not an agent's about its own work. */
function requireHuman(caller: Caller, what: string): void {
  if (caller.isInsideRun) {
    throw new PulseError('inside_run', `${what} is for people: an agent inside a run may not use it.`, {
      hint: 'End the iteration with the signal BLOCKED and say what a person should do.',
    });
  }
  requireToken(caller, what);
}

function checked<T>(schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(withoutNulls(given));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`);
  throw new PulseError('invalid_input', problems.join('; ').slice(0, 2000), {
    hint: 'The input schema of the tool says what it takes.',
  });
}

/** Assistants that must name every field send `null` for what they leave out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const filled = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(filled.map(([name, field]) => [name, withoutNulls(field)]));
}

function failure(error: PulseError): CallToolResult {
  const { code, message, hint, details } = error.toJSON();
  const told = redactJson({ code, message, hint: hint && inToolWords(hint), details });
  const text = [`${told.code}: ${told.message}`, ...(told.hint ? [`hint: ${told.hint}`] : [])].join('\n');
  return { content: [{ type: 'text', text }], structuredContent: { error: told }, isError: true };
}
