/** Letting somebody write to Pulse: a code that is good once, sent from the service itself. */
import { randomBytes } from 'node:crypto';
import type { Db } from '../../store/store.ts';
import type { ChatChannel } from './answer.ts';
import { insertPairing } from './rows.ts';

export async function makePairing(db: Db, channel: ChatChannel): Promise<string> {
  const code = randomBytes(5).toString('hex');
  await insertPairing(db, channel, code);
  return code;
}

/** What is to be sent. */
export function pairingText(channel: ChatChannel, code: string): string {
  switch (channel) {
    case 'discord':
      return `/pulse pair code:${code}`;
    case 'slack':
      return `/pulse pair ${code}`;
    case 'telegram':
      return `/pair ${code}`;
    default:
      return `pair ${code}`;
  }
}
