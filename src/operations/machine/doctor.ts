/** `pulse doctor` for those who cannot type it: the program itself is asked, in a process of its own. */
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { PulseError } from '../../domain/errors.ts';
import { openRepository } from '../../git/repository.ts';
import { capture } from '../../process/capture.ts';
import type { Operations } from '../context.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/pulse.js', import.meta.url));
const LIMIT_MS = 60_000;

export const Finding = z.object({
  level: z.enum(['ok', 'warn', 'bad', 'absent']),
  subject: z.string(),
  text: z.string(),
  hint: z.string().optional(),
});
type Findings = { findings: z.output<typeof Finding>[] };

/** As `pulse doctor --gc`, in the repository or for the state directory alone. */
export async function collectGarbage(operations: Operations, path?: string): Promise<Findings> {
  return ask(operations, await placeOf(operations, path), ['--gc']);
}

/** One at a time for a place: who asks meanwhile gets the same answer. */
const underWay = new Map<string, Promise<Findings>>();

export async function viewDoctor(
  operations: Operations,
  { path, check }: { path?: string; check?: string } = {},
): Promise<Findings> {
  const cwd = await placeOf(operations, path);
  const options = check === undefined ? [] : ['--verify', check];
  const question = JSON.stringify([cwd, ...options]);
  const asked =
    underWay.get(question) ?? ask(operations, cwd, options).finally(() => underWay.delete(question));
  underWay.set(question, asked);
  return asked;
}

async function placeOf({ home, git }: Operations, path: string | undefined): Promise<string> {
  return path === undefined ? home.path : (await openRepository(git, path)).root;
}

async function ask(
  { environment, redactor }: Operations,
  cwd: string,
  options: readonly string[],
): Promise<Findings> {
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined));
  const { stdout } = await capture({
    ...{ file: process.execPath, args: [PROGRAM, 'doctor', '--json', ...options], cwd, limitMs: LIMIT_MS },
    env: env as Record<string, string>,
  });
  const found = z.object({ findings: z.array(Finding) }).safeParse(lastJson(stdout.toString('utf8')));
  if (found.success) return redactor.redactJson(found.data);
  throw new PulseError('tool_failed', 'pulse doctor gave no answer.', { hint: 'Run it in a terminal.' });
}

function lastJson(text: string): unknown {
  try {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '');
  } catch {
    return null;
  }
}
