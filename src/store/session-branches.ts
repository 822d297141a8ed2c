/** Whose a branch is, and whether it follows its session's head. */
import { PulseError } from '../domain/errors.ts';
import type { NewSession, Session } from './sessions.ts';
import type { Db } from './store.ts';

/** Two that were admitted in the same moment: the index has let only one in. Rethrows anything else. */
export function explainTakenBranch(branch: string): (error: unknown) => never {
  return (error) => {
    // PostgreSQL names the index, SQLite its columns.
    const said = (error as { constraint?: string }).constraint ?? String(error);
    if (!/pulse_sessions_branch|pulse_sessions\.branch_of/.test(said)) throw error;
    throw new PulseError('branch_exists', `Another session has just taken the branch ${branch}.`, {
      hint: 'Choose another name with --branch.',
      cause: error,
    });
  };
}

/** Throws `branch_exists` where an unfinished session of the project has the branch. */
export async function requireFreeBranch(
  db: Db,
  { branch_of, branch_name }: Pick<NewSession, 'branch_of' | 'branch_name'>,
): Promise<void> {
  const other = await db
    .selectFrom('pulse_sessions')
    .select(['id', 'status'])
    .where('branch_of', '=', branch_of ?? '')
    .where('branch_name', '=', branch_name)
    .where('parent_session_id', 'is', null)
    .where('status', 'not in', ['complete', 'aborted'])
    .executeTakeFirst();
  if (!other) return;
  throw new PulseError(
    'branch_exists',
    `Session ${other.id} is ${other.status} and has the branch ${branch_name}.`,
    {
      hint: 'Choose another name with --branch, or end that session first.',
      data: { branch: branch_name, session: other.id },
    },
  );
}

/** The newest session that has the branch after this one, and was not discarded; `null`: this one has it. */
export async function laterOnBranch(
  db: Db,
  { id, branch_of, branch_name }: Pick<Session, 'id' | 'branch_of' | 'branch_name'>,
): Promise<string | null> {
  if (branch_of === null) return null;
  const later = await db
    .selectFrom('pulse_sessions')
    .select('id')
    .where('branch_of', '=', branch_of)
    .where('branch_name', '=', branch_name)
    .where('parent_session_id', 'is', null)
    .where('discarded_at', 'is', null)
    // Ids sort by time.
    .where('id', '>', id)
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return later?.id ?? null;
}
