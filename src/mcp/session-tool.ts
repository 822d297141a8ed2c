/** A tool on sessions: checked input, a result as text and as data, and errors with code, message and hint. */
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import { asPulseError, PulseError } from '../domain/errors.ts';
import { redact, redactJson } from '../domain/redact.ts';
import type { TransactionHook } from '../operations/context.ts';
import type { Pulse } from '../pulse.ts';
import type { Session } from '../store/sessions.ts';
import type { McpTool } from '../tools/mcp-server.ts';

/** Who calls, decided anew for each request. */
export interface Caller {
  pulse(): Promise<Pulse>;
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

export interface Told {
  text: string;
  data: Record<string, unknown>;
}

export interface SessionTool<T> {
  name: string;
  title: string;
  description: string;
  input: z.ZodType<T>;
  annotations: ToolAnnotations;
  /** Of a tool that may change something: whether this call only reads. */
  onlyReads?(input: T): boolean;
  run(input: T, caller: Caller, signal: AbortSignal): Promise<Told>;
}

export function sessionTool<T>(tool: SessionTool<T>): (caller: Caller) => McpTool {
  const { name, title, description, input, annotations, onlyReads, run } = tool;
  return (caller) => ({
    name,
    title,
    description,
    input,
    annotations: { openWorldHint: false, ...annotations },
    async call(given, signal) {
      try {
        const asked = checked(input, given);
        if (!annotations.readOnlyHint && !onlyReads?.(asked)) requireToken(caller, name);
        const { text, data } = await run(asked, caller, signal);
        return { content: [{ type: 'text', text: redact(text) }], structuredContent: redactJson(data) };
      } catch (error) {
        return failure(asPulseError(error));
      }
    },
  });
}

/** Throws unless a person's own process calls, or a request that showed the token. `what` begins the sentence. */
function requireToken({ isTrusted }: Caller, what: string): void {
  if (isTrusted) return;
  throw new PulseError('unauthorized', `${what} needs the token.`, {
    hint: 'Send `Authorization: Bearer TOKEN`; the token lies in the state directory of Pulse.',
  });
}

/** Throws unless it can be a person's decision: trusted, and not an agent's about its own work. */
export function requireHuman(caller: Caller, what: string): void {
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

const FIELDS: Record<string, string> = {
  path: 'projectPath',
  project: 'projectName',
  'max-iterations': 'maxIterations',
  'budget-usd': 'budgetUsd',
  'budget-tokens': 'budgetTokens',
  'time-limit': 'timeLimit',
  'iteration-timeout': 'iterationTimeout',
  'idle-timeout': 'idleTimeout',
  anchor: 'anchorTurnId',
  context: 'contextStrategy',
  ...Object.fromEntries(
    ['answer', 'base', 'branch', 'agent', 'command', 'verify', 'sandbox', 'trust'].map((name) => [
      name,
      name,
    ]),
  ),
};

/** Hints are written for the command line; an assistant has the same options under their fields' names. */
function inToolWords(hint: string): string {
  return hint.replace(/--([a-z][a-z-]*)/g, (flag, name: string) => FIELDS[name] ?? flag);
}
