/** `pulse verify COMMIT | BRANCH | RANGE` for those who cannot type it. */
import * as z from 'zod';
import { loadConfig } from '../../config.ts';
import { PulseError } from '../../domain/errors.ts';
import { openRepository } from '../../git/repository.ts';
import { readPublicKey } from '../../referee/proof/key.ts';
import type { Operations } from '../context.ts';
import { verifyProofs } from '../proof/verify-proofs.ts';

const VERDICTS = ['fresh', 'signed', 'covered', 'stale', 'false', 'unproven'] as const;

export const ProofReportAnswer = z.object({
  what: z.string(),
  base: z.object({ name: z.string(), commit: z.string() }).nullable(),
  keys: z.array(z.string()).describe('The ids of the keys that are believed.'),
  verdict: z.enum(VERDICTS),
  commits: z
    .array(
      z.object({
        ...{ commit: z.string(), tree: z.string(), verdict: z.enum(VERDICTS), why: z.string().nullable() },
        proofs: z.array(
          z.object({
            state: z.enum(['known', 'unknown', 'wrong']),
            problem: z.string().nullable(),
            keyId: z.string().nullable(),
            work: z
              .object({ trust: z.string(), session: z.string(), agent: z.object({ name: z.string() }) })
              .nullable(),
          }),
        ),
        checks: z.array(
          z.object({
            command: z.string(),
            verdict: z.enum(['fresh', 'false', 'skipped', 'refused']),
            why: z.string().nullable(),
            recorded: z.object({ exit: z.int().nullable(), passed: z.boolean() }),
            again: z
              .object({ exit: z.int().nullable(), passed: z.boolean(), outputTail: z.string() })
              .nullable(),
          }),
        ),
        missing: z.array(z.string()).describe('Commands of the base that no known proof names.'),
      }),
    )
    .describe('Oldest first.'),
});
export type ProofReportAnswer = z.infer<typeof ProofReportAnswer>;

export interface CommitQuestion {
  path: string;
  what: string;
  base?: string;
  keys?: string[];
  run?: 'tip' | 'all' | 'none';
  signal?: AbortSignal;
}

/** Throws `not_found` where `what` names no commit. Changes nothing in the repository. */
export async function verifyCommits(
  { git, environment, redactor }: Operations,
  { path, what, base, keys = [], run = 'tip', signal }: CommitQuestion,
): Promise<ProofReportAnswer> {
  const { root } = await openRepository(git, path);
  const { values } = await loadConfig(null, environment);
  const report = await verifyProofs(
    { git, environment, pass: values.env.pass, redactor, signal },
    { root, what, base, run, keys: keys.map((text) => readPublicKey(text, 'the key')) },
  );
  if (report) return redactor.redactJson(ProofReportAnswer.parse(report));
  throw new PulseError('not_found', `${what} is no commit of ${root}.`, {
    hint: '`git branch --all` shows the branches; a range is A..B.',
  });
}
