/** A `pulse` that has the countdown beside its own loops: what a program with a loop of its own would be. */
import { fileURLToPath } from 'node:url';
import type { CommandContext, CommandSpec } from '../../../src/cli/command-spec.ts';
import { goOn } from '../../../src/cli/follow/go-on.ts';
import { main } from '../../../src/cli/main.ts';
import { openPulse } from '../../../src/cli/open-pulse.ts';
import { describeCommand, readInput } from '../../../src/cli/operation-command.ts';
import { LOOPS } from '../../../src/loops/all.ts';
import { countdown } from './index.ts';
import { startCountdown } from './operations.ts';

const command: CommandSpec = {
  ...describeCommand(startCountdown),
  name: 'countdown',
  group: 'Run',
  summary: 'Count down.',
  load: async () => ({ run }),
};

async function run(context: CommandContext): Promise<number> {
  await using pulse = await openPulse(context);
  const asked = await readInput(startCountdown, context, {});
  return await goOn(pulse, context, await pulse.call(startCountdown, asked));
}

await main({
  argv: process.argv.slice(2),
  program: fileURLToPath(import.meta.url),
  commands: [command],
  pulse: { loops: [...LOOPS, countdown], operations: { countdown: { start: startCountdown } } },
});
