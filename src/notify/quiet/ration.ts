/** Text messages cost money: after so many a day, the rest becomes one. */
import { type Db, storeNow } from '../../store/store.ts';
import { withNotifyTables } from '../tables.ts';

const MOST_TEXTS_A_DAY = 20;
const DAY_MS = 24 * 60 * 60 * 1000;

/** When there is room for the next; `null`: there is. */
export async function rationOver(
  db: Db,
  { accountId, destination }: { accountId: string; destination: string },
): Promise<number | null> {
  const earliest = await withNotifyTables(db)
    .selectFrom('notifications')
    .select('sent_at')
    .where('account_id', '=', accountId)
    .where('destination', '=', destination)
    .where('status', '=', 'sent')
    .where('sent_at', '>', storeNow(-DAY_MS))
    .orderBy('sent_at', 'desc')
    .offset(MOST_TEXTS_A_DAY - 1)
    .limit(1)
    .executeTakeFirst();
  return earliest?.sent_at ? Date.parse(earliest.sent_at) + DAY_MS : null;
}
