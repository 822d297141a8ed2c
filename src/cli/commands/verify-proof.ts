/** `pulse verify` of a commit, a branch or a range: by proofs, in any clone. */
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { loadConfig } from '../../config.ts';
import { environmentSecrets } from '../../domain/environment-secrets.ts';
import { isPulseError, PulseError } from '../../domain/errors.ts';
import { createRedactor } from '../../domain/redact.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { resolveHome } from '../../home.ts';
import { verifyProofs } from '../../operations/proof/verify-proofs.ts';
import { type PublicProofKey, readPublicKey } from '../../referee/proof/key.ts';
import type { CommandContext } from '../command-spec.ts';
import { onInterrupt } from '../follow/interrupts.ts';
import { proofLines } from '../proof-report.ts';
import { createCliGit, openHere } from '../repository-here.ts';

/** Whether a session is meant. Opens no store that is not there yet. */
export async function namesSession({ input, output, environment }: CommandContext): Promise<boolean> {
  const id = input.argument('ID')!;
  const isAboutCommits =
    input.texts('key') !== undefined || ['all', 'no-run'].some((name) => input.has(name));
  if (isAboutCommits || input.text('base') !== undefined || id.includes('..')) return false;
  if (!environment.PULSE_DATABASE_URL && !existsSync(resolveHome(environment).database)) return false;
  const { openReader } = await import('../../reader.ts');
  await using reader = await openReader({ environment, onWait: output.talk });
  return await reader.show(id).then(
    () => true,
    (error: unknown) => {
      if (isPulseError(error, 'not_found')) return false;
      throw error;
    },
  );
}

export async function verifyByProofs({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const what = input.argument('ID')!;
  const repository = await openHere(cwd, environment);
  if (!repository) {
    throw new PulseError('not_found', `There is no session ${what}, and here is no repository.`, {
      hint: '`pulse list` shows the sessions; a commit is looked for in the folder where you are.',
    });
  }
  const keys = await Promise.all((input.texts('key') ?? []).map((file) => readKey(resolve(cwd, file))));
  const { values } = await loadConfig(null, environment);
  const stop = new AbortController();
  using _interrupts = onInterrupt((signal) => stop.abort(signal));
  const report = await verifyProofs(
    {
      git: createCliGit(environment),
      environment,
      pass: values.env.pass,
      redactor: createRedactor(environmentSecrets(environment)),
      signal: stop.signal,
    },
    {
      root: repository.root,
      what,
      base: input.text('base'),
      keys,
      run: input.has('no-run') ? 'none' : input.has('all') ? 'all' : 'tip',
    },
  ).catch((error: unknown) => {
    if (stop.signal.aborted) return 'stopped' as const;
    throw error;
  });
  if (report === 'stopped') return stop.signal.reason === 'SIGINT' ? 130 : 143;
  if (report === null) {
    throw new PulseError('not_found', `${what} is no session, and no commit of ${repository.root}.`, {
      hint: '`pulse list` shows the sessions, `git branch --all` the branches; a range is A..B.',
    });
  }
  if (output.isJson) output.json(report);
  else output.data(proofLines(report, output.stdout.style).join('\n'));
  return ['fresh', 'signed'].includes(report.verdict) ? 0 : 1;
}

const MOST_KEY_BYTES = 64 * 1024;

async function readKey(path: string): Promise<PublicProofKey> {
  const text = await realpath(path)
    .then((real) => readRegularFile(real, { maxBytes: MOST_KEY_BYTES }))
    .catch((cause: Error) => {
      throw new PulseError('invalid_input', `The key cannot be read: ${cause.message}`, { cause });
    });
  return readPublicKey(text.toString('utf8'), path);
}
