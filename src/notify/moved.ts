/** A chat that has got another name: Telegram gives a group one when it becomes a supergroup. */
import { type Db, storeNow } from '../store/store.ts';
import { withNotifyTables } from './tables.ts';

export interface Move {
  accountId: string;
  from: string;
  to: string;
}

/** What is to be told there is told under the new name, in its order. May be called again. */
export async function moveChat(db: Db, { accountId, from, to }: Move): Promise<void> {
  const own = withNotifyTables(db);
  // A session that names both chats already tells it all in the new one.
  await own
    .updateTable('notify_routes as route')
    // No message keeps its name, so that nothing can reply to those of before.
    .set({ destination: to, thread: null })
    .where('account_id', '=', accountId)
    .where('destination', '=', from)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('notify_routes as other')
            .select('other.session_id')
            .whereRef('other.session_id', '=', 'route.session_id')
            .where('other.account_id', '=', accountId)
            .where('other.destination', '=', to),
        ),
      ),
    )
    .execute();
  await own
    .updateTable('notifications as n')
    .set({ destination: to })
    .where('account_id', '=', accountId)
    .where('destination', '=', from)
    .where('status', 'in', ['waiting', 'planned', 'gathered'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('notifications as other')
            .select('other.number')
            .whereRef('other.session_id', '=', 'n.session_id')
            .whereRef('other.seq', '=', 'n.seq')
            .where('other.account_id', '=', accountId)
            .where('other.destination', '=', to),
        ),
      ),
    )
    .execute();
  // The messages that asked are not in the new chat.
  await own
    .updateTable('chat_prompts')
    .set({ closed_at: storeNow() })
    .where('account_id', '=', accountId)
    .where('chat', '=', from)
    .where('closed_at', 'is', null)
    .execute();
}
