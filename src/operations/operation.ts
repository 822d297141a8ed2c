/** One entry per operation: what it takes, who may ask, what it does, and how it appears on each surface. */
import type * as z from 'zod';
import type { Session } from '../store/sessions.ts';
import type { Operations, TransactionHook } from './context.ts';
import type { Fields, InputOf } from './fields.ts';
import type { AnswerHook } from './project-change.ts';
import type { RunnerState } from './view.ts';

/**
 * `read`: all that may read. `change`: with the token, which the command line's user has. `person`: never inside an
 * agent's run, even with the token.
 */
export type Access = 'read' | 'change' | 'person';

export interface HttpAppearance {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `{id}` stands for the field with that `pathName`. */
  path: string;
  /** Of the answer when it is no 200. */
  status?: 200 | 201 | 202;
  /** What the answer is, for /openapi.json. */
  says: string;
  /** Of an answer that is no JSON. */
  contentType?: string;
  /** Where the caller gives none. */
  defaults?: Record<string, unknown>;
  /** Of a reading whose address another reading has too: what the query `view` says for this one. */
  view?: string;
}

export interface ToolAppearance {
  name: string;
  title: string;
  description: string;
  isDestructive?: boolean;
  /** Asking twice is like asking once. */
  isIdempotent?: boolean;
  /** May also change something, although it is there to read. */
  mayChange?: boolean;
  /** Several operations are one tool: what its field `operation` says for this one. */
  variant?: string;
  defaults?: Record<string, unknown>;
}

/** What can be known of an operation without loading what it does: enough for help, schemas and documents. */
export interface Definition<F extends Fields = Fields> {
  /** A verb, and its object where it is not a session. */
  name: string;
  /** One sentence, for /openapi.json and for help. */
  summary: string;
  access: Access;
  fields: F;
  /** It changes a project and no session: its result is the answer, and it calls `keep` in its transaction. */
  isOfProject?: boolean;
  /** Whether the session has to be run afterwards, so that its runner is recorded with the change. */
  runsSession?(input: InputOf<F>): boolean;
  http?: HttpAppearance;
  tool?: ToolAppearance;
}

/** Who asks. */
export interface CallerOptions {
  /** As events record it. */
  actor: string;
  /** The surface a session is started on. */
  createdBy: 'cli' | 'api' | 'mcp' | 'web' | 'telegram' | 'sms' | 'discord' | 'slack' | 'schedule';
  within?: TransactionHook;
  keep?: AnswerHook;
  signal?: AbortSignal;
}

/** What every change answers. `next`: whether somebody has to run the session now. */
export interface Changed {
  session: Session;
  next?: 'attach' | 'run';
  /** Another session that was started with it, and has to be run. */
  started?: Session;
}

/** For an assistant: words, and the same as data. */
export interface Told {
  text: string;
  data: Record<string, unknown>;
}

/** Runs an operation of the table. */
export type Call = <F extends Fields, R, V>(
  operation: Operation<F, R, V>,
  input: InputOf<F> & Partial<CallerOptions>,
) => Promise<R>;

/** What the words for an assistant are made of, beside the result. */
export interface Asked<F extends Fields> {
  input: InputOf<F>;
  runner(sessionId: string): Promise<RunnerState>;
}

export interface Operation<F extends Fields = Fields, R = unknown, V = unknown> extends Definition<F> {
  run(operations: Operations, input: InputOf<F> & CallerOptions): Promise<R>;
  /** What HTTP answers, where it is on HTTP. */
  view?: z.ZodType<V>;
  /** Of a change: its answer, from the session alone where a crash has left nothing else. */
  answer?(session: Session, result: R | null, call: Call): V | Promise<V>;
  /** Of an answer that is no JSON: its text, and headers of its own. */
  page?(result: R): { text: string; headers?: Record<string, string> };
  /** Of fields of the kind `object`. */
  schemas?: { [K in keyof F]?: z.ZodType };
  /** What the fields must be together. */
  check?(input: InputOf<F>, refuse: (field: keyof F & string, message: string) => void): void;
  tell?(result: R, asked: Asked<F>): Told | Promise<Told>;
}

// biome-ignore lint/suspicious/noExplicitAny: stands for each operation, with any input and output
export type AnyOperation = Operation<any, any, any>;

/** Operations by their names; those of a loop are a group in the table. */
export type OperationGroup = { readonly [name: string]: AnyOperation | OperationGroup };

export function isOperation(entry: AnyOperation | OperationGroup): entry is AnyOperation {
  return typeof entry.run === 'function';
}

/** A reading over HTTP; `says` what the answer is. */
export function get(path: string, says: string, more: Partial<HttpAppearance> = {}): HttpAppearance {
  return { method: 'get', path, says, ...more };
}

/** A change over HTTP. */
export function post(path: string, says: string, more: Partial<HttpAppearance> = {}): HttpAppearance {
  return { method: 'post', path, says, status: 202, ...more };
}

export function define<const F extends Fields>(definition: Definition<F>): Definition<F> {
  return definition;
}

type Parts<F extends Fields, R, V> = Omit<Operation<F, R, V>, keyof Definition>;

/** The result itself is what HTTP answers: the compiler holds it to the view. */
export function operation<F extends Fields, V, R extends V>(
  definition: Definition<F>,
  parts: Omit<Parts<F, R, V>, 'answer'>,
): Operation<F, R, V> {
  return { ...definition, ...parts };
}

/** A change that answers with something else than its result. */
export function answeringOperation<F extends Fields, V, R>(
  definition: Definition<F>,
  parts: Parts<F, R, V> & Required<Pick<Parts<F, R, V>, 'answer'>>,
): Operation<F, R, V> {
  return { ...definition, ...parts };
}
