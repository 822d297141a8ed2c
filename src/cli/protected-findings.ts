/** `pulse doctor` about the checks of a repository: what says what they are. */
import { loadConfig } from '../config.ts';
import { asPulseError } from '../domain/errors.ts';
import { commandOf } from '../operations/check-choices.ts';
import { findProtected } from '../operations/protected-checks.ts';
import { sanitizeLine } from '../terminal/text.ts';
import type { Examination, Finding } from './machine-findings.ts';
import { createCliGit, openHere } from './repository-here.ts';

/** So many lines; a repository of many packages has hundreds. */
const PROTECTED_TOLD = 50;

/** What says what the checks are: a change of it is held against the agent that makes it. */
export async function* protectedFindings({ environment, cwd, verify }: Examination): AsyncGenerator<Finding> {
  const subject = 'protected';
  const repository = await openHere(cwd, environment);
  if (!repository) return;
  const { root, headSha: commit } = repository;
  try {
    const { values } = await loadConfig(root, environment);
    const commands = verify.length > 0 ? verify : values.verify.map(commandOf);
    if (commands.length === 0) return;
    const { paths = [], exclude = [] } = values.checks;
    const { tests } = values;
    const wanted = { root, commit, commands, paths, exclude, tests };
    const found = await findProtected(createCliGit(environment), wanted);
    const { described, unknown } = found;
    for (const line of described.slice(0, PROTECTED_TOLD))
      yield { level: 'ok', subject, text: sanitizeLine(line) };
    const more = described.length - PROTECTED_TOLD;
    if (more > 0) yield { level: 'ok', subject, text: `and ${more} more` };
    if (unknown.length === 0) return;
    const named = sanitizeLine(unknown.join(', '));
    const hint = 'Name what it reads with `checks: {paths: [...]}` in .pulse/config.yaml.';
    yield { level: 'warn', subject, text: `nothing else is known of ${named}`, hint };
  } catch (error) {
    const { message, hint } = asPulseError(error);
    yield { level: 'warn', subject, text: message, hint };
  }
}
