/** What a person sets for the machine and for this browser, and who is told: on the real server, with a stand-in of a service. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, type Service } from '../notify/stand-in.ts';
import { BROWSER, eventually, useWebScene } from './scene.ts';

const scene = useWebScene();
const ASKS = 'cat > /dev/null; date > asked; echo "<signal>BLOCKED: Which one?</signal>"';

let ntfy: Service;

describe.skipIf(!BROWSER)('in the settings a person', () => {
  beforeAll(async () => {
    ntfy = await openService({ id: 'm1' });
  });
  afterAll(() => ntfy[Symbol.asyncDispose]());

  it('tries a channel, sees a message that failed, and has it sent again', async () => {
    const folder = join(scene.directory, '.config/pulse');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ notify: { ntfy: { url: ntfy.url } } }));
    const page = await scene.open('/settings');
    await page.getByLabel('Channel').selectOption('ntfy');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText(/^Sent to/).waitFor();
    expect(ntfy.got).toHaveLength(1);

    ntfy.replies.push({ status: 410 });
    const id = await scene.start({ goal: 'To be told of', command: ASKS });
    await scene.waitFor(id, 'blocked');
    const failed = async () => (await scene.ask('GET', '/api/notifications?status=failed')).notifications;
    await eventually(async () => (await failed()).length).toBe(1);
    await page.reload();
    const row = page.getByRole('listitem').filter({ hasText: 'HTTP 410' });
    await row.getByText('failed', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Retry' }).click();
    await eventually(async () => (await failed()).length).toBe(0);
    await page.getByText('HTTP 410').waitFor({ state: 'detached' });
    await eventually(() => ntfy.got.length).toBe(3);
    await page.close();
  });

  it('asks what protects a check that is in no config', async () => {
    const page = await scene.open(`/settings?path=${encodeURIComponent(scene.repository)}`);
    await page.getByRole('list', { name: 'Findings' }).getByRole('listitem').first().waitFor();
    const asked = page.waitForResponse('**/api/doctor?*check=*');
    await page.getByLabel('What protects the check').fill('node --test test/slugify.test.js');
    await page.getByRole('button', { name: 'Ask doctor' }).click();
    expect((await asked).status()).toBe(200);
    await page.getByRole('list', { name: 'Findings' }).getByText('slugify.test.js').first().waitFor();
    await page.close();
  });

  it('chooses a theme, which stays', async () => {
    const page = await scene.open('/settings');
    await page.getByLabel('Theme').selectOption('dark');
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await eventually(theme).toBe('dark');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await eventually(theme).toBe('dark');
    await page.getByLabel('Theme').selectOption('system');
    await eventually(theme).toBeUndefined();
    await page.close();
  });

  it('turns the letters off, and on again', async () => {
    const page = await scene.open('/settings');
    const letters = page.getByLabel('Letters are keys');
    await letters.uncheck();
    await letters.blur();
    await page.keyboard.press('?');
    await page.keyboard.press('/');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Actions' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings');
    expect(await page.getByRole('dialog', { name: 'Keys' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await letters.check();
    await letters.blur();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.close();
  });

  it('signs out here', async () => {
    const page = await scene.open('/settings', { theme: 'dark' });
    await page.getByRole('button', { name: 'Sign out here' }).click();
    await page.getByRole('textbox', { name: 'Token' }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem('pulse.key'))).toBeNull();
    await page.close();
  });

  it('cleans up what was never merged', async () => {
    const command = 'cat > /dev/null; date > kept; echo "<signal>COMPLETE</signal>"';
    const id = await scene.start({ goal: 'Never merged', command });
    await scene.waitFor(id, 'complete');
    const { branch_name: branch } = (await scene.ask('GET', `/api/pulse/${id}`)).session;
    expect(scene.git('branch', '--list', branch)).not.toBe('');
    const page = await scene.open('/settings');
    await page.getByLabel('Older than').fill('1ms');
    await page.getByRole('list', { name: 'Kept work' }).getByText('Never merged').waitFor();
    await page.getByRole('button', { name: 'Clean…' }).click();
    await page.getByRole('checkbox', { name: /^Also branches that are not merged/ }).check();
    await page.getByRole('button', { name: 'Clean up' }).click();
    await page.getByText(/sessions? cleaned/).waitFor();
    expect(scene.git('branch', '--list', branch)).toBe('');
    await page.close();
  });

  it('ends the reservation of another by force', async () => {
    const project_key = scene.repository;
    await scene.ask('POST', '/api/mail/agents', { project_key, name: 'Fox' });
    await scene.ask('POST', '/api/reservations', {
      ...{ project_key, agent_name: 'Fox', paths: ['src/index.js'], ttl: '1h' },
    });
    const at = `/project?path=${encodeURIComponent(project_key)}&tab=reservations`;
    const page = await scene.open(at);
    await page.getByRole('button', { name: 'Force the end of the reservation of src/index.js' }).click();
    await page.getByRole('button', { name: 'End reservation' }).click();
    await page.getByText('No file is reserved.').waitFor();
    await page.close();
  });

  it('is notified by the browser when a session comes to need somebody and nobody looks', async () => {
    const page = await scene.open('/settings');
    await standInForNotifications(page);
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: /^Notify me when a session needs me/ }).check();
    const told = () => page.evaluate(() => (window as unknown as { told: string[] }).told);

    const seen = await scene.start({ goal: 'Asked while I look', command: ASKS });
    await scene.waitFor(seen, 'blocked');
    await page.goto(`${scene.url}/`);
    await page.getByRole('listitem').filter({ hasText: 'Asked while I look' }).getByText('blocked').waitFor();
    await page.evaluate(() =>
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' }),
    );
    const id = await scene.start({ goal: 'Asked while I am away', command: ASKS });
    await scene.waitFor(id, 'blocked');
    await eventually(told).toEqual(['Asked while I am away: blocked. Which one?']);
    await page.evaluate(() => (window as unknown as { press(): void }).press());
    await page.getByRole('heading', { level: 1, name: 'Asked while I am away' }).waitFor();
    await page.close();
  });
});

/** The desktop is beyond the browser: what would be shown there is kept. */
async function standInForNotifications(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const told: string[] = [];
    let last: { onclick?(): void } = {};
    class Shown {
      static permission = localStorage.getItem('permission') ?? 'default';
      static requestPermission(): Promise<string> {
        Shown.permission = 'granted';
        localStorage.setItem('permission', 'granted');
        return Promise.resolve('granted');
      }
      onclick?(): void;
      constructor(title: string, { body }: { body: string }) {
        told.push(`${title}. ${body}`);
        last = this;
      }
      close(): void {
        last = {};
      }
    }
    Object.assign(window, { Notification: Shown, told, press: () => last.onclick?.() });
  });
}
