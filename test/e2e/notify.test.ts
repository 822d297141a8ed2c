import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openService } from '../notify/stand-in.ts';
import { openTerminal, SCRIPT } from './open-terminal.ts';
import { OWN_NODE, PROGRAM, until, useScene } from './scene.ts';

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

it('pulse notify test needs no repository: outside of one your own config says whom to tell', async () => {
  const telegram = await openService({ ok: true, result: { message_id: 5 } });
  onTestFinished(() => telegram[Symbol.asyncDispose]());
  const own = join(scene.directory, '.config/pulse');
  mkdirSync(own, { recursive: true });
  const notify = { telegram: { tokenEnv: 'BOT', apiUrl: telegram.url, allow: [42] } };
  writeFileSync(join(own, 'config.yaml'), JSON.stringify({ notify }));
  const [cwd, env] = [scene.directory, { BOT: '1:secret' }];
  const sent = await scene.pulse(['notify', 'test', 'telegram'], { cwd, env });
  expect([sent.stdout, sent.code]).toEqual(['Sent to telegram 42\n', 0]);
  const elsewhere = await scene.pulse(['notify', 'test', 'telegram', '--path', cwd], { env });
  expect([elsewhere.code, telegram.got.length]).toEqual([2, 1]);
});

it('a session of the command line tells its end by itself, also when the service is away at that moment', async () => {
  const telegram = await openService({ ok: true, result: { message_id: 5 } });
  onTestFinished(() => telegram[Symbol.asyncDispose]());
  mkdirSync(join(scene.repository, '.pulse'), { recursive: true });
  const notify = { telegram: { tokenEnv: 'BOT', apiUrl: telegram.url, allow: [42], chat: 42 } };
  writeFileSync(join(scene.repository, '.pulse/config.yaml'), JSON.stringify({ notify }));
  const told = () => telegram.got.map(({ body }) => (JSON.parse(body) as { text: string }).text);
  telegram.replies.push({ status: 502 });
  const agent = scene.agent(`echo '<signal>BLOCKED: Which port?</signal>'`);
  const args = ['start', 'g', '--command', agent, '--trust', '--json'];
  const started = await scene.pulse(args, { env: { BOT: '1:secret' } });
  expect(started.code).toBe(3);
  await until('it is told again', () => told().length === 2);
  expect(new Set(told())).toEqual(new Set(['⏸️ Blocked: Which port?']));
  await until('nothing of it runs', () => scene.processes().length === 0);
  // Nobody runs it any longer: who aborts it tells so.
  const aborted = await scene.pulse(['abort', 'last'], { env: { BOT: '1:secret' } });
  expect(aborted.code).toBe(0);
  expect(told().at(-1)).toBe('🛑 Aborted');
});

it.runIf(existsSync(SCRIPT))('pulse watch calls a person who looks elsewhere, and nobody else', async () => {
  const first = await scene.pulse([
    'start',
    'First',
    '--command',
    scene.agent('echo "<signal>COMPLETE</signal>"'),
  ]);
  expect(first.code).toBe(0);
  const { screen, type, exit } = openTerminal(scene, `${OWN_NODE} ${PROGRAM} watch`);
  await until('it shows what there is', () => screen().includes('First'));
  expect(screen()).toContain('\x1b[?1004h');
  type('\x1b[O');
  await scene.pulse(['start', 'Second', '--command', scene.agent('echo "<signal>BLOCKED: Why?</signal>"')]);
  await until('it calls', () => screen().includes('\x07\x1b]9;Pulse: blocked: Second\x07'));
  type('\x1b[I');
  await scene.pulse([
    'start',
    'Third',
    '--command',
    scene.agent('echo "<signal>BLOCKED: Whither?</signal>"'),
  ]);
  await until('it shows that one', () => screen().includes('Whither?'));
  type('q');
  expect(await exit).toBe(0);
  expect(screen()).not.toContain('Pulse: blocked: Third');
  expect(screen()).toContain('\x1b[?1004l');
});
