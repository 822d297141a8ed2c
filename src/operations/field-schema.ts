/** A field as each surface spells its value, as a schema that reads it into what TypeScript takes. */
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { MOST_DURATION_MS } from '../domain/bounds.ts';
import { parseDuration } from '../domain/durations.ts';
import { isStorable, NOT_STORABLE, toStorable } from '../domain/storable.ts';
import type { Field, FieldKind } from './fields.ts';

/** `body`: JSON over HTTP. `word`: a text in a path, a query or a header. `tool`: JSON from an assistant. */
export type Place = 'body' | 'word' | 'tool';

const MOST_TEXTS = 50;

export function fieldSchema(field: Field, place: Place, own?: z.ZodType): z.ZodType {
  const spelling = SPELLINGS[place]?.[field.kind] ?? [];
  const help = [field.help, ...spelling, ...(place === 'tool' ? personNote(field) : [])].join(' ');
  const schema = (own ?? plainSchema(field, place)).describe(help);
  if (field.isRequired) return schema;
  return place === 'word' ? orEmpty(schema).describe(help) : schema.optional();
}

/** An assistant decides for itself; these it may not. */
function personNote({ personValues = [] }: Field): string[] {
  if (personValues.length === 0) return [];
  const named = personValues.includes(true) ? '' : `${personValues.join(' or ')} `;
  return [`${named}only on a person’s word.`.replace(/^./, (letter) => letter.toUpperCase())];
}

/** What is spelt in a way of its own in this place. */
const SPELLINGS: Partial<Record<Place, Partial<Record<FieldKind, [string]>>>> = {
  body: {
    duration: ['Like `90s`, `10m`, `2h` or `1h30m`; a number is milliseconds.'],
    usd: ['`null`: no limit.'],
    path: ['An absolute path.'],
  },
  tool: { duration: ['Like 90s, 10m or 2h.'], usd: ['"none": no limit.'], path: ['An absolute path.'] },
};

function plainSchema(field: Field, place: Place): z.ZodType {
  const { kind, min = 1, max = Number.MAX_SAFE_INTEGER } = field;
  switch (kind) {
    case 'id':
      // One that no store can hold names nothing: it is looked for, and not found.
      return z.string().min(min).max(max).overwrite(toStorable);
    case 'text':
      // It may be empty: it is only looked for, and kept nowhere.
      if (min === 0) return z.string().max(max).overwrite(toStorable);
      return field.pattern && place !== 'tool'
        ? text(max).regex(field.pattern.matches, field.pattern.says)
        : text(max);
    case 'path':
      return text(max).refine(isAbsolute, 'must be an absolute path');
    case 'integer':
      return place === 'word' ? wholeNumber({ min, max }) : z.int().min(min).max(max);
    case 'number':
      return z
        .number()
        .min(field.min ?? 0)
        .max(max);
    case 'usd':
      return place === 'tool' ? toolUsd(max) : z.number().positive().max(max).nullable();
    case 'duration':
      return place === 'tool' ? toolDuration(field.min) : bodyDuration(field.min);
    case 'flag':
      return place === 'word' ? yesOrNo : z.boolean();
    case 'choice':
      return z.enum(field.choices as [string, ...string[]]);
    case 'texts':
      return z.array(text(max).refine((each) => each.trim() !== '', 'must say something')).max(MOST_TEXTS);
    case 'reference':
      return z
        .union([text(max), z.int()], { error: 'must be text or a whole number' })
        .transform(String)
        .meta({ oneOf: [{ type: 'string', minLength: 1, maxLength: max }, { type: 'integer' }] });
    case 'object':
      return z.record(z.string(), z.unknown());
  }
}

const yesOrNo = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .meta({ type: 'string', enum: ['true', 'false'] });

function text(longest: number) {
  return z.string().min(1).max(longest).refine(isStorable, NOT_STORABLE);
}

/** Inclusive bounds and enums only: not every model's API knows `exclusiveMinimum`, `const` and `null`. */
function toolUsd(max: number) {
  return z
    .union([z.number().min(0.000_001).max(max), z.enum(['none'])])
    .transform((value) => (value === 'none' ? null : value));
}

const LIKE = 'a duration such as 90s, 10m or 2h';

function toolDuration(least = 1) {
  const message = `must be ${LIKE}`;
  return z
    .string()
    .max(50)
    .transform((value, context) => readDuration(value, context, { message, least }));
}

function bodyDuration(least = 1) {
  const message = `must be ${LIKE}, or milliseconds`;
  return z
    .union([z.string(), z.number()], { error: 'must be a duration such as "90s", or milliseconds' })
    .transform((value, context) => readDuration(value, context, { message, least }))
    .meta({
      oneOf: [
        { type: 'string', pattern: '^(\\d+(\\.\\d+)?(ms|s|m|h|d))+$' },
        { type: 'integer', minimum: least, maximum: MOST_DURATION_MS },
      ],
    });
}

function readDuration(
  value: string | number,
  context: z.RefinementCtx,
  { message, least }: { message: string; least: number },
): number {
  const ms = typeof value === 'number' ? value : durationMs(value);
  if (Number.isSafeInteger(ms) && ms >= least && ms <= MOST_DURATION_MS) return ms;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

function durationMs(value: string): number {
  try {
    return parseDuration(value, { least: 0 });
  } catch {
    return Number.NaN; // the schema says what is wrong
  }
}

/** An empty value counts as none: `?status=&limit=`. */
export function orEmpty<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
}

/** A number as a path, a query or a header spells it. */
export function wholeNumber({ min, max }: { min: number; max: number }) {
  return z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max });
}
