import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { createWrapUp } from '../../src/engine/run/deadline-notice.ts';
import { defineTool } from '../../src/tools/contract.ts';

const LIMITS = { idleMs: null, usd: null, tokens: null };
const tool = defineTool({
  name: 't',
  description: '',
  input: z.object({}),
  call: () => ({ ok: true, output: 'x' }),
});

it.each([
  ['its own time', { ...LIMITS, hardMs: 100, timeMs: null }],
  ['what the session has left', { ...LIMITS, hardMs: 100_000, timeMs: 100 }],
])('tells once, with the next answer, that %s is nearly over', async (_, limits) => {
  using wrapUp = createWrapUp(limits);
  const told = wrapUp.tell(tool);
  expect(await told.call({})).toEqual({ ok: true, output: 'x' });
  await sleep(120);
  expect(await told.call({})).toMatchObject({ ok: true, notice: expect.stringContaining('nearly over') });
  expect(await told.call({})).toEqual({ ok: true, output: 'x' });
});
