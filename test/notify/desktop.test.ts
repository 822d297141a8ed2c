import { describe, expect, it } from 'vitest';
import type { Sending } from '../../src/notify/channels/channel.ts';
import { createDesktopSender } from '../../src/notify/channels/desktop.ts';

const sending: Sending = {
  ...{ text: '--help <b>"$(rm -rf /)" & so on', weight: 'needs', key: 'k', destination: 'here' },
  about: { type: 'session.blocked', sessionId: 's', iteration: null },
};

async function show(platform: NodeJS.Platform, code = 0) {
  const calls: string[][] = [];
  const sender = createDesktopSender(async (file, args) => {
    calls.push([file, ...args]);
    if (code === 127) throw new Error('spawn notify-send ENOENT');
    return { code, output: 'No such bus' };
  }, platform);
  const { signal } = new AbortController();
  return { calls, outcome: await sender.send(sending, { settings: {}, secret: () => '', signal }), sender };
}

describe('the desktop', () => {
  it('gets the words as one argument, which is no option, no command and no markup', async () => {
    const linux = await show('linux');
    expect(linux.calls[0]!.slice(-3)).toEqual(['--', 'Pulse', '--help &lt;b&gt;"$(rm -rf /)" &amp; so on']);
    const mac = await show('darwin');
    expect([mac.calls[0]![0], mac.calls[0]!.at(-1)]).toEqual(['osascript', sending.text]);
    expect(mac.calls[0]!.slice(0, -1).join(' ')).not.toContain('rm -rf');
  });

  it('is not asked again where it cannot show anything, and never told of steps', async () => {
    expect((await show('linux', 1)).outcome).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining('No such bus'),
    });
    expect((await show('linux', 127)).outcome).toMatchObject({ kind: 'refused' });
    const { sender } = await show('linux');
    expect(sender.skips?.({ text: '', weight: 'news' }, {})).toBe(true);
  });
});
