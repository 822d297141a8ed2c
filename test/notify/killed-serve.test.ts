/** kill -9 of a real `pulse serve` while somebody writes to it, on both stores. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until, useScene } from '../e2e/scene.ts';
import { freePort } from '../fakes/postgres.ts';
import { sharePostgres } from '../fakes/shared-postgres.ts';
import { openTelegram } from './telegram-bot.ts';

const scene = useScene();

async function environmentOf(store: string): Promise<Record<string, string>> {
  if (store === 'SQLite') return { BOT: '1:secret' };
  const server = await sharePostgres();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { BOT: '1:secret', PULSE_DATABASE_URL: await server.createDatabase() };
}

describe('a serve that is killed before the sender has heard of the effect', () => {
  it.each(['SQLite', 'PostgreSQL'])(
    'does what was written once, on %s',
    async (store) => {
      const env = await environmentOf(store);
      const telegram = await openTelegram();
      onTestFinished(() => telegram[Symbol.asyncDispose]());
      const notify = {
        telegram: { tokenEnv: 'BOT', apiUrl: telegram.url, allow: [42] },
        projects: { shop: scene.repository },
      };
      const command = scene.agent('echo x > x.txt; echo "<signal>COMPLETE</signal>"');
      const folder = join(scene.directory, '.config/pulse');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ notify, agent: 'command', command }));
      const serve = async () => {
        const running = scene.start(['serve', '--port', String(await freePort())], { env });
        await until('serve listens', () => running.output().includes('listens on'));
        return running;
      };
      const said = (words: string) => telegram.sent.filter(({ text }) => text.includes(words)).length;

      const first = await serve();
      telegram.holdsBack = 'works on it';
      const update = telegram.write({ from: 42, text: '/start shop Once.' });
      await until('it has had its effect', () => said('works on it') === 1);
      first.child.kill('SIGKILL');
      await first.ended;

      const second = await serve();
      telegram.repeat(update);
      telegram.write({ from: 42, text: '/status' });
      await until('the next message is heard', () => said('Once.') === 1);
      await until('its end is told', () => said('✅') === 1);
      const { json } = await scene.pulse(['list', '--json'], { env });
      expect(json[0]).toMatchObject({ sessions: [{ goal: 'Once.', created_by: 'telegram' }] });
      expect(said('works on it')).toBe(1);
      second.child.kill('SIGTERM');
      expect((await second.ended).code).toBe(143);
    },
    90_000,
  );
});
