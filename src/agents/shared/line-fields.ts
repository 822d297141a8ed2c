/** Fields of agents' lines. A value of another type counts as absent: the rest of its line still matters. */
import * as z from 'zod';

/** 0 where it is absent. */
export const count = z.int().nonnegative().catch(0).default(0);
export const whole = z.int().nonnegative().nullish().catch(null);
export const figure = z.number().nonnegative().nullish().catch(null);
export const text = z.string().nullish().catch(null);
export const flag = z.boolean().nullish().catch(null);
