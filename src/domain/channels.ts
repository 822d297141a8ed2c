/** The services that tell people. Help reads them, so nothing is loaded here. */
export const CHANNELS = [
  'telegram',
  'sms',
  'discord',
  'webhook',
  'ntfy',
  'command',
  'slack',
  'desktop',
] as const;
/** `issue`: the one that a session came from; nobody sets it up. */
export type Channel = (typeof CHANNELS)[number] | 'issue';
