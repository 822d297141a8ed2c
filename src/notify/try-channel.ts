/** Sends one message by what the config says, and tells what the service answered. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Channel } from '../domain/channels.ts';
import { PulseError } from '../domain/errors.ts';
import type { NotifySettings } from '../domain/notify.ts';
import type { Redactor } from '../domain/redact.ts';
import { createSenders } from './channels/all.ts';
import type { Sending } from './channels/channel.ts';
import { PERSON } from './channels/discord.ts';
import { send } from './courier.ts';
import { createPrograms } from './run-command.ts';

const PATIENCE_MS = 20_000;

export interface Tried {
  channel: Channel;
  destination: string;
  providerId: string | null;
}

/** Needs no store: what is tried is the way to the service. Throws `invalid_config`, or `tool_failed` where it is refused. */
export async function tryChannel(
  channel: Channel,
  {
    notify,
    environment,
    redactor,
  }: { notify: NotifySettings; environment: NodeJS.ProcessEnv; redactor: Redactor },
): Promise<Tried> {
  const { settings, destination } = requireTarget(notify, channel);
  const senders = createSenders(createPrograms(environment));
  const needed = (senders[channel].needs as (given: unknown) => string[])(settings);
  const unset = needed.filter((name) => !environment[name]);
  if (unset.length > 0)
    throw new PulseError('invalid_config', `${unset.join(', ')} is not set.`, {
      hint: `notify.${channel} names it as the variable that holds the secret.`,
    });
  const sending: Sending = {
    text: 'Pulse can reach you here.',
    weight: 'end',
    key: `test.${randomUUID()}`,
    destination,
    about: { type: 'notify.test', sessionId: 'test', iteration: null },
  };
  const account = { id: channel, channel, settings };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const outcome = await send({ environment, redactor, senders }, { account, sending, signal });
  if (outcome.kind !== 'sent')
    throw new PulseError('tool_failed', `${channel} did not take it: ${outcome.error}`, {
      hint: `Look at notify.${channel} in the config, and at ${needed.join(', ') || 'what it names'}.`,
    });
  return { channel, destination: destination.replace(PERSON, ''), providerId: outcome.providerId };
}

/** Who may write to Pulse is also who is tried. */
function requireTarget(notify: NotifySettings, channel: Channel): { settings: object; destination: string } {
  const { telegram, sms, discord, webhooks, ntfy, command, slack, desktop } = notify;
  const found: Partial<Record<Channel, { settings: object; destination: string | undefined } | null>> = {
    telegram: telegram ? { settings: telegram, destination: telegram.allow[0] ?? telegram.chat } : null,
    sms: sms ? { settings: sms, destination: sms.allow[0] ?? sms.to } : null,
    discord: discord ? { settings: discord, destination: personOf(discord.allow) ?? discord.channel } : null,
    webhook: webhooks?.[0] ? { settings: webhooks[0], destination: webhooks[0].url } : null,
    ntfy: ntfy ? { settings: ntfy, destination: ntfy.url } : null,
    slack: slack ? { settings: slack, destination: slack.allow[0] ?? slack.channel } : null,
    desktop: desktop ? { settings: { host: hostname() }, destination: hostname() } : null,
    command: command ? { settings: { command }, destination: command } : null,
  };
  const { settings, destination } = found[channel] ?? {};
  if (settings && destination) return { settings, destination };
  throw new PulseError('invalid_config', `The config names nobody to tell by ${channel}.`, {
    hint: settings
      ? `notify.${channel} needs somebody: allow.`
      : `Add notify.${channel === 'webhook' ? 'webhooks' : channel} to the config (docs/notifications.md).`,
  });
}

function personOf([first]: readonly string[]): string | undefined {
  return first === undefined ? undefined : `${PERSON}${first}`;
}
