/** Answers that are nobody's operation: errors, and whether the server is there. */
import * as z from 'zod';
import { ERROR_CODES, type ErrorCode } from '../domain/errors.ts';

export const HealthAnswer = z.object({ status: z.literal('ok') });

const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];
export const ErrorAnswer = z
  .object({
    error: z.object({
      code: z.enum(codes),
      message: z.string(),
      hint: z.string().nullable(),
      details: z.record(z.string(), z.unknown()),
    }),
  })
  .meta({ id: 'Error' });
