import type { Senders } from './channel.ts';
import { createCommandSender, type RunCommand } from './command.ts';
import { createDesktopSender, type RunProgram } from './desktop.ts';
import { discord } from './discord.ts';
import { createIssueSender, type RunGh } from './issue.ts';
import { ntfy } from './ntfy.ts';
import { slack } from './slack.ts';
import { sms } from './sms.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';

export interface Programs {
  runCommand: RunCommand;
  runProgram: RunProgram;
  platform: NodeJS.Platform;
  /** Absent: there is none. */
  gh?: RunGh;
}

export function createSenders({ runCommand, runProgram, platform, gh }: Programs): Senders {
  return {
    ...{ telegram, sms, discord, webhook, ntfy, slack },
    command: createCommandSender(runCommand),
    desktop: createDesktopSender(runProgram, platform),
    issue: createIssueSender(gh ?? (async () => null)),
  };
}
