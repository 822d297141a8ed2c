/** The table as methods: what the operation is about comes first, then the rest of its input. */
import { PulseError } from '../domain/errors.ts';
import type { Operations } from './context.ts';
import type { Fields, IdKeyOf, InputOf } from './fields.ts';
import {
  type AnyOperation,
  type Call,
  type CallerOptions,
  isOperation,
  type Operation,
  type OperationGroup,
} from './operation.ts';

type Given<F extends Fields> = Omit<InputOf<F>, IdKeyOf<F>> & Partial<CallerOptions>;
type Rest<F extends Fields> = object extends Given<F> ? [input?: Given<F>] : [input: Given<F>];

type Method<O> =
  O extends Operation<infer F, infer R, infer _>
    ? (...given: [IdKeyOf<F>] extends [never] ? Rest<F> : [id: string, ...rest: Rest<F>]) => Promise<R>
    : never;

/** One method for each operation; a group of operations is a group of methods. */
export type Methods<T> = {
  readonly [K in keyof T]: T[K] extends { run: unknown } ? Method<T[K]> : Methods<T[K]>;
};

export interface CallDefaults {
  actor: string;
  createdBy: CallerOptions['createdBy'];
}

/** Runs operations of the table. What their fields must be together is checked here; each checks the rest itself. */
export function createCall(operations: Operations, defaults: CallDefaults): Call {
  return async (operation, input) => {
    operation.check?.(input, (_, message) => {
      throw new PulseError('usage', `${operation.name}: ${message}.`);
    });
    return operation.run(operations, { ...defaults, ...input });
  };
}

export function createMethods<T extends OperationGroup>(table: T, call: Call): Methods<T> {
  const made = Object.entries(table).map(([name, entry]) => [
    name,
    isOperation(entry) ? createMethod(entry, call) : createMethods(entry, call),
  ]);
  return Object.fromEntries(made);
}

function createMethod(operation: AnyOperation, call: Call) {
  const id = Object.entries(operation.fields as Fields).find(([, { kind }]) => kind === 'id')?.[0];
  if (id === undefined) return (input: Record<string, unknown> = {}) => call(operation, input);
  return (value: string, input: Record<string, unknown> = {}) => call(operation, { ...input, [id]: value });
}
