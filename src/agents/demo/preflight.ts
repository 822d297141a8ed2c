/** How the demo agent prepares a worktree: it runs the checks that the brief names, and records what fails already. */
import { FENCE } from './brief.ts';
import type { PulsePlay, PulseReply } from './pulse.ts';
import { say } from './scenario.ts';

export const PREFLIGHT_UNIT = 'preflight';

export function* playPreflight({ brief }: { brief: string }): PulsePlay {
  const checks = checksOf(brief);
  yield say(
    checks.length === 0
      ? "I am Pulse's demo agent, a script: I see nothing that I could set up or check."
      : 'I run the checks once, to see what fails before anybody has changed anything.',
  );
  let recorded = 0;
  for (const command of checks) {
    const reply: PulseReply | undefined = yield { do: 'call', tool: 'shell', input: { command } };
    if (reply?.ok) continue;
    const pattern = `${command}: ${reply?.reasons?.[0] ?? 'failed'}`;
    const issue = {
      issueType: 'Error',
      source: 'Build',
      pattern,
      description: 'failed before the first pulse',
    };
    yield { do: 'call', tool: 'record_baseline', input: issue };
    recorded += 1;
  }
  const summary = `ran ${checks.length} check(s), ${recorded} of them failing from before`;
  const done = { summary, setupCommands: [], buildSuccess: recorded === 0, baselinesRecorded: recorded };
  const reply = yield { do: 'call', tool: 'preflight_done', input: done };
  yield say(reply?.ok ? `The worktree is ready: ${summary}.` : `Not accepted: ${reply?.reasons?.join(' ')}`);
}

/** The fenced commands of the brief, one a line. */
function checksOf(brief: string): string[] {
  const [, commands = ''] = /^Run these checks once:\s*([\s\S]*)$/m.exec(brief) ?? [];
  return (FENCE.exec(commands)?.[2] ?? '').split('\n').filter((line) => line.trim() !== '');
}
