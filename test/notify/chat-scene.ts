/** A real serve, real sessions, and chat services on loopback. */
import { onTestFinished, vi } from 'vitest';
import { serve } from '../../src/api/serve.ts';
import { type NotifySettings, notifySchema } from '../../src/domain/notify.ts';
import { COMPLETE, makeScene, type Scene } from '../engine/scene.ts';
import { freePort } from '../fakes/postgres.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { openTelegram, type TelegramStandIn } from './telegram-bot.ts';

const ASK = `if [ "$PULSE_ITERATION" = 1 ]; then echo "<signal>BLOCKED: Which port?</signal>"
else cat > brief.txt; ${COMPLETE}; fi`;

export const SECRETS = {
  BOT_TOKEN: '12:not-for-people',
  SMS_TOKEN: 'sms-secret',
  PULSE_DISCORD: 'discord-secret',
  SLACK_APP: 'xapp-secret',
  SLACK_BOT: 'xoxb-secret',
};

export interface ChatScene extends Scene {
  url: string;
  telegram: TelegramStandIn;
  /** What the server said on its terminal. */
  said: string[];
}

export async function makeChatScene(
  more: (scene: Scene) => Partial<NotifySettings> = () => ({}),
  { environment = {} }: { environment?: Record<string, string> } = {},
): Promise<ChatScene> {
  const telegram = await openTelegram();
  onTestFinished(() => telegram[Symbol.asyncDispose]());
  const scene = await makeScene({ environment: { ...SECRETS, ...environment } });
  const notify = notifySchema.parse({
    telegram: { tokenEnv: 'BOT_TOKEN', apiUrl: telegram.url, allow: [42] },
    projects: { shop: scene.root },
    ...more(scene),
  });
  await writeTrustedConfig(scene.root, { text: JSON.stringify({ notify }), environment: scene.environment });
  const { pulse } = scene;
  const said: string[] = [];
  const options = { pulse, host: '127.0.0.1', port: await freePort(), reads: 'open' as const, adopt: [] };
  const server = await serve({ ...options, say: (text) => void said.push(text), notify });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { ...scene, telegram, said, url: server.url };
}

export const waitFor = (condition: () => boolean | Promise<boolean>) =>
  vi.waitUntil(condition, { timeout: 60_000 });

export async function heard({ telegram }: ChatScene, words: string | RegExp): Promise<string> {
  const find = () => telegram.sent.find(({ text }) => text.match(words))?.text;
  await waitFor(() => find() !== undefined);
  return find()!;
}

export const statusOf = async ({ pulse }: Scene, id: string) => (await pulse.session(id)).status;

/** A session that asks, and tells the chat of 42. */
export async function asking(scene: ChatScene, more: object = {}): Promise<string> {
  const input = { goal: 'g', path: scene.root, command: ASK, maxIterations: 3, chatId: '42', ...more };
  const { session } = await scene.pulse.start({ ...input, createdBy: 'api' });
  await scene.run(session);
  await heard(scene, 'Blocked: Which port');
  return session.id;
}
