/** What a person decides from a chat: each decision by its buttons, and what a yes or a no does to the session. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NotifySettings } from '../../src/domain/notify.ts';
import { COMPLETE } from '../engine/scene.ts';
import { done, plan } from '../workflow/scene.ts';
import { type ChatScene, heard, makeChatScene, statusOf, waitFor } from './chat-scene.ts';
import { type DiscordStandIn, openDiscord } from './discord-bot.ts';
import { openSlack, type SlackStandIn } from './slack-app.ts';

/** Where `pulse tool` is. */
const PATH = [
  dirname(process.execPath),
  join(import.meta.dirname, '../../node_modules/.bin'),
  process.env.PATH,
].join(':');

const makeDeciding = (more: () => Partial<NotifySettings> = () => ({})) =>
  makeChatScene(more, { environment: { PATH } });

let scripts = 0;

/** A shell agent with a script for each pulse of a plan. */
function agent(scene: ChatScene, bodies: Record<string, string>): string {
  const path = join(scene.folder, `unit-${++scripts}.sh`);
  const cases = Object.entries(bodies).map(([unit, body]) => `${unit})\n${body}\n;;`);
  const head = `#!/bin/sh\ncat > /dev/null\nOUT='${scene.folder}'\n`;
  writeFileSync(path, `${head}case "$PULSE_UNIT" in\n${cases.join('\n')}\nesac\nexit 0\n`);
  chmodSync(path, 0o755);
  return path;
}

const HELLO = { one: `echo hello > hello.txt\n${done('feat: say hello', ['hello.txt'])}` };
const TELLS_42 = { createdBy: 'api' as const, actor: 'test', chatId: '42' };

async function workflow(
  scene: ChatScene,
  bodies: Record<string, string>,
  more: { isApproved?: boolean; extensions?: 'ask' } = {},
): Promise<string> {
  const checks = { preflight: [], verify: [{ command: 'true', source: 'Test' }] };
  const { session } = await scene.pulse.workflow.start({
    ...{ plan: { ...plan('one'), ...checks }, path: scene.root, command: agent(scene, bodies) },
    ...{ ...TELLS_42, ...more },
  });
  await scene.run(session);
  return session.id;
}

/** The newest message of a stop that has buttons still. */
const asked = ({ telegram }: ChatScene) => {
  const found = telegram.sent.findLast(({ buttons }) => buttons.length > 0);
  if (!found) throw new Error('nothing asks');
  return found;
};

const press = (scene: ChatScene, label: string) =>
  void scene.telegram.press({ from: 42, message: asked(scene), label });

/** What a button has asked for by a message, given as a reply to it. */
async function tell(scene: ChatScene, prompt: RegExp, text: string): Promise<void> {
  await heard(scene, prompt);
  const message = scene.telegram.sent.findLast((one) => prompt.test(one.text))!;
  scene.telegram.write({ from: 42, text, repliesTo: message.message_id });
}

const hasStatus = (scene: ChatScene, id: string, status: string) =>
  waitFor(async () => (await statusOf(scene, id)) === status);
const waitsForReview = (scene: ChatScene, id: string) =>
  waitFor(async () => Boolean((await scene.pulse.session(id)).blocked_reason?.includes('review')));
const actorsOf = async ({ pulse }: ChatScene, id: string, type: string) =>
  (await pulse.export(id)).events.filter((event) => event.type === type).map(({ data }) => data.actor);

describe('on Telegram, a plan', () => {
  it('is approved by a press, and the workflow works on it', async () => {
    const scene = await makeDeciding();
    const id = await workflow(scene, HELLO);
    await heard(scene, 'plan waits for approval');
    expect(asked(scene).buttons.map(({ text }) => text)).toEqual(['Approve', 'Reject', 'Details']);
    press(scene, 'Approve');
    await waitsForReview(scene, id);
    expect(await actorsOf(scene, id, 'PlanCardResolved')).toEqual(['telegram:42']);
  });

  it('is rejected by a press and a yes: the workflow ends, and nothing of it was done', async () => {
    const scene = await makeDeciding();
    const id = await workflow(scene, HELLO);
    await heard(scene, 'plan waits for approval');
    press(scene, 'Reject');
    await tell(scene, /Nothing of it was done/, 'rather not');
    await heard(scene, 'The plan was not rejected');
    expect(await statusOf(scene, id)).toBe('blocked');
    await tell(scene, /Nothing of it was done/, 'yes');
    await heard(scene, 'The plan is rejected');
    await hasStatus(scene, id, 'aborted');
    expect(await actorsOf(scene, id, 'session.aborted')).toEqual(['telegram:42']);
    expect((await scene.pulse.session(id)).total_commits).toBe(0);
  });

  it('is rejected by a plain no with a reason, and by nothing that is neither yes nor no', async () => {
    const scene = await makeDeciding();
    const id = await workflow(scene, HELLO);
    await heard(scene, 'plan waits for approval');
    scene.telegram.write({ from: 42, text: 'What does it cost?' });
    await heard(scene, 'Answer yes, or no with the reason');
    expect(await statusOf(scene, id)).toBe('blocked');
    scene.telegram.write({ from: 42, text: 'No, that is another program.' });
    await hasStatus(scene, id, 'aborted');
  });
});

describe('on Telegram, an extension', () => {
  const ask = JSON.stringify({ reason: 'it is long', completed: ['some'], remaining: ['more'] });
  const script = {
    one: `if [ -e "$OUT/asked" ]; then ${HELLO.one}; else touch "$OUT/asked"; pulse tool request_extension '${ask}'; fi`,
  };
  const asking = async (scene: ChatScene) => {
    const id = await workflow(scene, script, { isApproved: true, extensions: 'ask' });
    await heard(scene, 'it is long');
    return id;
  };

  it('is approved by a press', async () => {
    const scene = await makeDeciding();
    const id = await asking(scene);
    press(scene, 'Approve');
    await waitsForReview(scene, id);
    expect(await actorsOf(scene, id, 'ExtensionApproved')).toEqual(['telegram:42']);
  });

  it('is denied by a press and a yes: the pulse fails', async () => {
    const scene = await makeDeciding();
    const id = await asking(scene);
    press(scene, 'Reject');
    await tell(scene, /Deny it/, 'Yes.');
    await hasStatus(scene, id, 'failed');
    expect(await scene.pulse.session(id)).toMatchObject({ stop_reason: 'pulse_failed' });
  });
});

describe('on Telegram, changed checks', () => {
  const changing = async (scene: ChatScene) => {
    writeFileSync(join(scene.root, 'check.sh'), 'grep -q old value.txt\n');
    writeFileSync(join(scene.root, 'value.txt'), 'old\n');
    scene.sh(scene.root, 'add', '-A');
    scene.sh(scene.root, 'commit', '-qm', 'a check');
    const change = `echo new > value.txt; echo 'grep -q new value.txt' > check.sh
echo '<checks_changed>check.sh: the value is new now</checks_changed>'`;
    const session = await scene.start(
      `cat > ${scene.folder}/brief-$PULSE_ITERATION
if [ "$PULSE_ITERATION" = 1 ]; then ${change}; else git checkout -q HEAD~1 -- .; fi; ${COMPLETE}`,
      { goal: 'Make it new', verify: ['sh check.sh'], ...TELLS_42 },
    );
    await scene.run(session);
    await heard(scene, 'Blocked');
    expect(asked(scene).buttons.map(({ text }) => text)).toEqual(['Approve', 'Reject', 'Details']);
    return session.id;
  };

  it('are accepted by a press', async () => {
    const scene = await makeDeciding();
    const id = await changing(scene);
    press(scene, 'Approve');
    await hasStatus(scene, id, 'complete');
    expect(await scene.pulse.session(id)).toMatchObject({ trust: 'verified_checks_changed' });
    await heard(scene, /Session complete/);
    press(scene, 'Evidence');
    await heard(scene, /Result: [\s\S]*by sh check\.sh/);
  });

  it('are sent back with the words that the press asks for, which the next run is told', async () => {
    const scene = await makeDeciding();
    const id = await changing(scene);
    press(scene, 'Reject');
    await tell(scene, /Why not/, 'Keep the old value.');
    await hasStatus(scene, id, 'complete');
    const { iterations } = await scene.pulse.show(id);
    expect(iterations).toHaveLength(2);
    expect(iterations[1]!.task_content).toContain('Keep the old value.');
  });
});

describe('on Telegram, the review of a workflow', () => {
  const reviewing = async (scene: ChatScene) => {
    const more = { 'review-1': `echo more > more.txt\n${done('fix: say more', ['more.txt'])}` };
    const id = await workflow(scene, { ...HELLO, ...more }, { isApproved: true });
    await heard(scene, 'waits for review');
    return id;
  };

  it('is no by a press and its words, which become a pulse', async () => {
    const scene = await makeDeciding();
    const id = await reviewing(scene);
    press(scene, 'Reject');
    await tell(scene, /What is missing/, 'Say more.');
    await waitFor(async () => (await scene.pulse.workflow.rows(id)).pulses.length === 2);
    await waitsForReview(scene, id);
    const { pulses } = await scene.pulse.workflow.rows(id);
    expect(pulses[1]).toMatchObject({ planned_pulse_id: 'review-1', comments: 'Say more.' });
  });

  it('merges nothing without notify.merge, neither by a button nor by a yes', async () => {
    const scene = await makeDeciding();
    const id = await reviewing(scene);
    expect(asked(scene).buttons.map(({ text }) => text)).toEqual(['Reject', 'Details']);
    scene.telegram.write({ from: 42, text: 'yes' });
    await heard(scene, 'This cannot be decided from a chat');
    expect(await statusOf(scene, id)).toBe('blocked');
    expect(existsSync(join(scene.root, 'hello.txt'))).toBe(false);
  });

  it('merges by a press with notify.merge', async () => {
    const scene = await makeDeciding(() => ({ merge: true }));
    const id = await reviewing(scene);
    press(scene, 'Approve');
    await hasStatus(scene, id, 'complete');
    expect(scene.sh(scene.root, 'show', 'main:hello.txt')).toBe('hello');
  });
});

it('on Telegram, a press lets a session go on that has failed', async () => {
  const scene = await makeDeciding();
  const { folder } = scene;
  const session = await scene.start(
    `[ -e ${folder}/mended ] || { echo 'cannot go on' >&2; exit 3; }\n${COMPLETE}`,
    TELLS_42,
  );
  await scene.run(session);
  await heard(scene, 'Failed');
  expect(asked(scene).buttons.map(({ text }) => text)).toEqual(['Resume', 'Details', 'Abort']);
  writeFileSync(join(folder, 'mended'), '');
  press(scene, 'Resume');
  await hasStatus(scene, session.id, 'complete');
  expect(await actorsOf(scene, session.id, 'session.resumed')).toEqual(['telegram:42']);
});

interface Chat {
  scene: ChatScene;
  actor: string;
  /** Presses the button of the first message; returns when the chat has answered, with what it said. */
  press(label: string): Promise<string>;
  told(words: string): Promise<unknown>;
}

async function onDiscord(): Promise<Chat> {
  const discord = await openDiscord();
  onTestFinished(() => discord[Symbol.asyncDispose]());
  const settings = { tokenEnv: 'PULSE_DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9' };
  const scene = await makeDeciding(() => ({ discord: settings }));
  await waitFor(() => discord.isConnected);
  let first: DiscordStandIn['sent'][number] | undefined;
  return {
    ...{ scene, actor: 'discord:81' },
    async press(label) {
      // As it was when it was read: who presses late has its buttons still.
      first ??= structuredClone(discord.sent[0]!);
      const id = discord.press({ from: '81', message: first, label });
      await waitFor(() => discord.replies.has(id));
      return String(discord.replies.get(id)![0]!.data?.content);
    },
    told: (words) => waitFor(() => discord.sent.some(({ content }) => content.includes(words))),
  };
}

async function onSlack(): Promise<Chat> {
  const slack = await openSlack();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  const tokens = { appTokenEnv: 'SLACK_APP', botTokenEnv: 'SLACK_BOT', apiUrl: slack.url };
  const scene = await makeDeciding(() => ({ slack: { ...tokens, allow: ['U1'], channel: 'C9' } }));
  await waitFor(() => slack.isConnected);
  let first: SlackStandIn['sent'][number] | undefined;
  let pressed = 0;
  return {
    ...{ scene, actor: 'slack:U1' },
    async press(label) {
      first ??= structuredClone(slack.sent[0]!);
      const nth = pressed++;
      slack.press({ from: 'U1', message: first, label });
      await waitFor(() => slack.whispers.length > nth);
      return slack.whispers[nth]!.text;
    },
    told: (words) => waitFor(() => slack.sent.some(({ text }) => text.includes(words))),
  };
}

describe.each([
  ['Discord', onDiscord],
  ['Slack', onSlack],
] as const)('on %s, a plan', (_, open) => {
  it('is approved by a press that counts once: a second and a late one are told who was first', async () => {
    const { scene, actor, press: pressIn, told } = await open();
    const id = await workflow(scene, HELLO);
    await told('plan waits for approval');
    const said = await Promise.all([pressIn('Approve'), pressIn('Approve')]);
    await waitsForReview(scene, id);
    await told('waits for review');
    said.push(await pressIn('Approve'), await pressIn('Reject'));
    expect(said.filter((text) => text.includes(`Too late: ${actor} was first`))).toHaveLength(3);
    expect(await actorsOf(scene, id, 'PlanCardResolved')).toEqual([actor]);
    expect(await statusOf(scene, id)).toBe('blocked');
  });
});
