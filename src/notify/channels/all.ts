import type { Senders } from './channel.ts';
import { createCommandSender, type RunCommand } from './command.ts';
import { discord } from './discord.ts';
import { ntfy } from './ntfy.ts';
import { sms } from './sms.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';

export function createSenders(run: RunCommand): Senders {
  return { telegram, sms, discord, webhook, ntfy, command: createCommandSender(run) };
}
