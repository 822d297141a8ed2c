import { loadConfig } from '../../config.ts';
import type { Channel } from '../../domain/channels.ts';
import { PulseError } from '../../domain/errors.ts';
import { createRedactor } from '../../domain/redact.ts';
import { openRepository } from '../../git/repository.ts';
import { resolveHome } from '../../home.ts';
import type { ChatChannel } from '../../notify/inbound/answer.ts';
import { pairingText } from '../../notify/inbound/pairing.ts';
import { tryChannel } from '../../notify/try-channel.ts';
import { createPulse } from '../../pulse.ts';
import { loadTrustedConfig } from '../../trust.ts';
import type { CommandContext } from '../command-spec.ts';
import { createCliGit, openHere } from '../repository-here.ts';

export async function run(context: CommandContext): Promise<number> {
  return context.input.argument('ACTION') === 'pair' ? pair(context) : test(context);
}

const CHATS: readonly Channel[] = ['telegram', 'sms', 'discord', 'slack'] satisfies ChatChannel[];

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
    output.data(`Send this to Pulse by ${channel} within ten minutes: ${pairingText(channel, code)}`);
    output.talk('`pulse serve` must be running to hear it.');
  }
  return 0;
}

/** Needs no store: what is tried is the way to the service. */
async function test({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const channel = input.argument('CHANNEL') as Channel;
  const named = input.text('path');
  // Whom the person's own config tells is told of from anywhere.
  const project =
    named === undefined
      ? await openHere(cwd, environment)
      : await openRepository(createCliGit(environment), named);
  const { values } = project
    ? await loadTrustedConfig({ home: resolveHome(environment), environment, project })
    : await loadConfig(null, environment);
  const tried = await tryChannel(channel, {
    ...{ notify: values.notify ?? {}, environment, redactor: createRedactor([]) },
  });
  if (output.isJson) output.json(tried);
  else
    output.data(`Sent to ${channel === 'webhook' ? tried.destination : `${channel} ${tried.destination}`}`);
  return 0;
}
