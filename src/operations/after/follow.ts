/** `follow`: another session on the branch of one that has ended, with its context chained. */
import { PulseError } from '../../domain/errors.ts';
import { nextCommand } from '../../domain/next-command.ts';
import { TERMINAL_STATUSES } from '../../domain/status.ts';
import { headRef } from '../../git/session-head.ts';
import { appendEvents } from '../../store/events.ts';
import { getControl, getSession, type Session } from '../../store/sessions.ts';
import { newestTurn } from '../../store/turns.ts';
import type { Operations, TransactionHook } from '../context.ts';
import { ownSession } from '../control.ts';
import { type Started, type StartInput, startSession } from '../start.ts';
import { branchGone } from './merge.ts';
import { requireLastOnBranch } from './session-parts.ts';

export type FollowInput = Omit<StartInput, 'kind' | 'path' | 'base' | 'branch'> & {
  actor: string;
  within?: TransactionHook;
};

/** What was chosen for the first holds for this one too, unless something else is said. */
export async function followUp(
  operations: Operations,
  id: string,
  { actor, within, ...input }: FollowInput,
): Promise<Started> {
  const { store } = operations.engine;
  const { session, chosen, turn } = await store.read(async (db) => {
    const found = ownSession(await getSession(db, id), 'follow');
    requireEnded(found);
    await requireLastOnBranch(db, found, 'follow');
    const { settings } = await getControl(db, found.id);
    return {
      session: found,
      chosen: settings.chosen ?? {},
      turn: await newestTurn(db, { sessionId: found.id }),
    };
  });
  const tip = await tipOf(operations, session);
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  return startSession(
    operations,
    {
      ...chosen,
      // Another agent does not run the first one's command.
      ...(input.agent === undefined ? {} : { command: undefined, model: undefined }),
      projectName: session.project_name,
      chatId: session.chat_id ?? undefined,
      phoneNumber: session.phone_number ?? undefined,
      discordThreadId: session.discord_thread_id ?? undefined,
      anchorTurnId: turn?.id,
      ...(given as Pick<FollowInput, 'goal' | 'createdBy'>),
      path: session.project_path,
    },
    {
      continues: { session, tip, turn },
      async within(db, newId) {
        const now = await getSession(db, session.id);
        // Inside a transaction nothing else is waited for: what is kept of it the next try says.
        if (now.discarded_at !== session.discarded_at)
          throw new PulseError(
            'not_found',
            `The branch ${now.branch_name} of ${now.id} was removed just now.`,
            {
              hint: `pulse status ${now.id} shows what is kept of it.`,
            },
          );
        await appendEvents(db, session.id, [{ type: 'session.followed', data: { by: newId, actor } }]);
        await within?.(db, newId);
      },
    },
  );
}

function requireEnded(session: Session): void {
  const { id, status } = session;
  if (TERMINAL_STATUSES.includes(status)) return;
  const next = nextCommand(session, { isDriven: true })?.command;
  const note = `pulse note ${id} "…" tells it something.`;
  throw new PulseError('invalid_transition', `${id} is ${status}: it has its branch still.`, {
    hint: status === 'running' || status === 'pending' ? note : `${next} continues it.`,
  });
}

/** Where the branch stands, with all of the session's work. */
async function tipOf(operations: Operations, session: Session): Promise<string> {
  const { workspace } = operations.engine;
  const isBehind = session.branch_lags_at !== null && (await workspace.follow(session)) !== null;
  if (isBehind) {
    const { id, branch_name: branch } = session;
    throw new PulseError('ref_moved', `${branch} does not have all of ${id}: it could not follow.`, {
      hint: `Bring it to ${headRef(id)} first: git switch ${branch} && git merge ${headRef(id)}`,
    });
  }
  const tip = await workspace.branchHead(session);
  if (tip === null) throw await branchGone(operations, session);
  return tip;
}
