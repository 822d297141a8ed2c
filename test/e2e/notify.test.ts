import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openService } from '../notify/stand-in.ts';
import { useScene } from './scene.ts';

const scene = useScene();

describe('pulse notify test', () => {
  it('tries the service that the config names, and says what it answered', async () => {
    const telegram = await openService({ ok: true, result: { message_id: 5 } });
    onTestFinished(() => telegram[Symbol.asyncDispose]());
    const missing = await scene.pulse(['notify', 'test', 'telegram']);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('notify.telegram');
    mkdirSync(join(scene.repository, '.pulse'), { recursive: true });
    const notify = { telegram: { tokenEnv: 'BOT', apiUrl: telegram.url, allow: [42] } };
    writeFileSync(join(scene.repository, '.pulse/config.yaml'), JSON.stringify({ notify }));
    expect((await scene.pulse(['notify', 'test', 'telegram'])).stderr).toContain('pulse trust');
    expect((await scene.pulse(['trust', '--yes'])).code).toBe(0);
    expect((await scene.pulse(['notify', 'test', 'telegram'])).stderr).toContain('BOT is not set');
    expect(telegram.got).toEqual([]);
    const env = { BOT: '1:secret-token' };
    const sent = await scene.pulse(['notify', 'test', 'telegram'], { env });
    expect([sent.code, sent.stdout]).toEqual([0, 'Sent to telegram 42\n']);
    telegram.replies.push({ status: 401, body: { ok: false, description: 'bot1:secret-token unknown' } });
    const refused = await scene.pulse(['notify', 'test', 'telegram'], { env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('HTTP 401');
    expect(refused.stderr).not.toContain('secret-token');
  });
});

it('pulse notify pair prints a code that is no other one’s', async () => {
  const codes: string[] = [];
  for (const _ of [1, 2]) {
    const { code, stdout } = await scene.pulse(['notify', 'pair', 'telegram']);
    expect(code).toBe(0);
    codes.push(/\/pair ([0-9a-f]{10})$/m.exec(stdout)![1]!);
  }
  expect(new Set(codes).size).toBe(2);
  expect((await scene.pulse(['notify', 'pair', 'ntfy'])).code).toBe(2);
});

it('pulse notify test discord writes to the first who is allowed, directly', async () => {
  const discord = await openService({ id: '900' });
  onTestFinished(() => discord[Symbol.asyncDispose]());
  mkdirSync(join(scene.repository, '.pulse'), { recursive: true });
  const notify = { discord: { tokenEnv: 'BOT', apiUrl: discord.url, allow: ['81'] } };
  writeFileSync(join(scene.repository, '.pulse/config.yaml'), JSON.stringify({ notify }));
  await scene.pulse(['trust', '--yes']);
  const sent = await scene.pulse(['notify', 'test', 'discord'], { env: { BOT: 'secret' } });
  expect([sent.code, sent.stdout]).toEqual([0, 'Sent to discord 81\n']);
  const [opened, message] = discord.got;
  expect([opened?.path, message?.path]).toEqual(['/v10/users/@me/channels', '/v10/channels/900/messages']);
  expect(JSON.parse(opened!.body)).toEqual({ recipient_id: '81' });
});
