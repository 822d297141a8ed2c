/** Whether claims can be judged as the config says: told at a start, not at the first claim of the night. */
import { relative, resolve, sep } from 'node:path';
import { chooseAgent, findAdapter } from '../agents/registry.ts';
import type { Config } from '../config.ts';
import { asPulseError, PulseError } from '../domain/errors.ts';
import type { Git } from '../git/exec.ts';
import { readHeldOut } from '../referee/held-out.ts';
import { HELD_OUT_FOLDER } from './check-choices.ts';

interface Where {
  root: string;
  environment: NodeJS.ProcessEnv;
}

/** Throws `invalid_config` or `agent_unavailable`. */
export async function checkReferee(
  git: Git,
  { values }: Config,
  { root, environment }: Where,
): Promise<void> {
  for (const { from = HELD_OUT_FOLDER, to = '' } of values.heldOut ?? []) {
    const folder = resolve(root, from);
    await refuseVisible(git, { root, folder, from });
    if ((await readHeldOut(folder, { to })) === null)
      throw new PulseError('invalid_config', `There are no held-out files in ${folder}.`, {
        hint: 'Put them there, or take the entry out of heldOut in the config.',
      });
  }
  if (values.review) await checkReviewer(values.review, environment);
}

/** What git has, every agent has. */
async function refuseVisible(
  git: Git,
  { root, folder, from }: { root: string; folder: string; from: string },
): Promise<void> {
  if (`${root}${sep}`.startsWith(`${folder}${sep}`))
    throw new PulseError('invalid_config', `heldOut.from is ${from}, which holds the whole repository.`, {
      hint: 'Name a folder that has the held-out files alone.',
    });
  const below = relative(root, folder);
  if (below.startsWith('..')) return;
  const tracked = await git.text(['ls-files', '-z', '--', `:(top,literal)${below}`], { cwd: root });
  if (tracked === '') return;
  throw new PulseError(
    'invalid_config',
    `Held-out files in ${from} are tracked by git: every agent sees them.`,
    {
      hint: `Take them out with: git rm -r --cached ${from}`,
    },
  );
}

async function checkReviewer(
  { agent, command, model }: NonNullable<Config['values']['review']>,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  findAdapter(agent);
  try {
    const wish = { wanted: agent, configured: null, command: command ?? null, model: model ?? null };
    await chooseAgent({ ...wish, env: environment });
  } catch (error) {
    const { hint, message } = asPulseError(error);
    throw new PulseError('agent_unavailable', `${agent} cannot give the second opinion: ${message}`, {
      hint: [hint, 'Or leave `review` out of the config.'].filter(Boolean).join(' '),
      cause: error,
    });
  }
}
