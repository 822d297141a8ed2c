import { randomUUID } from 'node:crypto';
import { PulseError } from '../../domain/errors.ts';
import type { Channel, NotifySettings } from '../../domain/notify.ts';
import { createRedactor } from '../../domain/redact.ts';
import { openRepository } from '../../git/repository.ts';
import { resolveHome } from '../../home.ts';
import { createSenders } from '../../notify/channels/all.ts';
import type { Sending } from '../../notify/channels/channel.ts';
import { PERSON } from '../../notify/channels/discord.ts';
import { send } from '../../notify/courier.ts';
import type { ChatChannel } from '../../notify/inbound/answer.ts';
import { createCommandRunner } from '../../notify/run-command.ts';
import { createPulse } from '../../pulse.ts';
import { loadTrustedConfig } from '../../trust.ts';
import type { CommandContext } from '../command-spec.ts';
import { createCliGit } from '../repository-here.ts';

const PATIENCE_MS = 20_000;

export async function run(context: CommandContext): Promise<number> {
  return context.input.argument('ACTION') === 'pair' ? pair(context) : test(context);
}

const CHATS: readonly Channel[] = ['telegram', 'sms', 'discord'] satisfies ChatChannel[];

async function pair({ input, output, environment, pulse: more }: CommandContext): Promise<number> {
  const channel = input.argument('CHANNEL') as ChatChannel;
  if (!CHATS.includes(channel))
    throw new PulseError('usage', `Nobody writes to Pulse by ${channel}.`, {
      hint: `One of ${CHATS.join(', ')}.`,
    });
  await using pulse = await createPulse({ ...more, environment });
  const code = await pulse.pairChat(channel);
  if (output.isJson) output.json({ channel, code });
  else {
    const words =
      channel === 'discord' ? `/pulse pair code:${code}` : `${channel === 'telegram' ? '/' : ''}pair ${code}`;
    output.data(`Send this to Pulse by ${channel} within ten minutes: ${words}`);
    output.talk('`pulse serve` must be running to hear it.');
  }
  return 0;
}

/** Needs no store: what is tried is the way to the service. */
async function test({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const channel = input.argument('CHANNEL') as Channel;
  const home = resolveHome(environment);
  const project = await openRepository(createCliGit(environment), input.text('path') ?? cwd);
  const { values } = await loadTrustedConfig({ home, environment, project });
  const { settings, destination } = requireTarget(values.notify ?? {}, channel);
  const senders = createSenders(createCommandRunner(environment));
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
  const outcome = await send(
    { environment, redactor: createRedactor([]), senders },
    { account, sending, signal },
  );
  if (outcome.kind !== 'sent')
    throw new PulseError('tool_failed', `${channel} did not take it: ${outcome.error}`, {
      hint: `Look at notify.${channel} in the config, and at ${needed.join(', ') || 'what it names'}.`,
    });
  if (output.isJson) output.json({ channel, destination, providerId: outcome.providerId });
  else
    output.data(
      `Sent to ${channel === 'webhook' ? destination : `${channel} ${destination.replace(PERSON, '')}`}`,
    );
  return 0;
}

/** Who may write to Pulse is also who is tried. */
function requireTarget(notify: NotifySettings, channel: Channel): { settings: object; destination: string } {
  const { telegram, sms, discord, webhooks, ntfy, command } = notify;
  const found: Record<Channel, { settings: object; destination: string | undefined } | null> = {
    telegram: telegram ? { settings: telegram, destination: telegram.allow[0] ?? telegram.chat } : null,
    sms: sms ? { settings: sms, destination: sms.allow[0] ?? sms.to } : null,
    discord: discord ? { settings: discord, destination: personOf(discord.allow) ?? discord.channel } : null,
    webhook: webhooks?.[0] ? { settings: webhooks[0], destination: webhooks[0].url } : null,
    ntfy: ntfy ? { settings: ntfy, destination: ntfy.url } : null,
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
