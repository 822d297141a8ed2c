/** Whatever others wrote, a terminal gets text: errors, settings, plans, arguments, exports. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useScene } from './scene.ts';

const scene = useScene();
const EVIL = 'A\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b31m\u202eB';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
const ACTED_ON = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

function config(text: string): void {
  mkdirSync(join(scene.repository, '.pulse'), { recursive: true });
  writeFileSync(join(scene.repository, '.pulse/config.json'), text);
}

async function printed(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await scene.pulse(args, { env });
  return stdout + stderr;
}

describe('nothing that a terminal acts on is printed', () => {
  it.each([
    ['an unknown key', { [EVIL]: 1 }],
    ['a value', { context: EVIL }],
    ['a command', { command: EVIL, verify: [EVIL] }],
  ])('of a config with %s', async (_, settings) => {
    config(JSON.stringify(settings));
    for (const args of [
      ['config'],
      ['config', '--json'],
      ['start', 'x'],
      ['start', 'x', '--trust', '--agent', EVIL],
      ['doctor'],
      ['trust'],
    ]) {
      const text = await printed(args);
      expect([args, text.length > 0, ACTED_ON.exec(text)]).toEqual([args, true, null]);
    }
  });

  it('of arguments, a plan and an export', async () => {
    for (const args of [
      [EVIL],
      ['start', 'x', EVIL],
      ['start', `--${EVIL}`],
      ['config', EVIL],
      ['status', EVIL],
    ]) {
      expect([args, ACTED_ON.exec(await printed(args))]).toEqual([args, null]);
    }
    const plan = { title: EVIL, pulses: [{ id: 'one', title: EVIL, description: EVIL }] };
    writeFileSync(join(scene.directory, 'plan.json'), JSON.stringify(plan));
    const { json } = await scene.pulse(['workflow', 'start', '../plan.json', '--agent', 'demo', '--json']);
    const { session } = json.at(-1) as unknown as { session: { id: string; goal: string } };
    for (const args of [
      ['workflow', 'show', session.id],
      ['status', session.id],
      ['list'],
      ['log', session.id],
      ['export', session.id],
      ['export', session.id, '--format', 'md'],
    ]) {
      const text = await printed(args);
      expect([args, text.includes('A'), ACTED_ON.exec(text)]).toEqual([args, true, null]);
    }
    const exported = JSON.parse(await printed(['export', session.id])) as { session: { goal: string } };
    expect(exported.session.goal).toBe(session.goal);
    expect(session.goal).toContain('\u202e');
  });
});

it('a password in a remote’s address stands neither in an error nor in a log', async () => {
  const secret = 'tok3nSecretInUrl99';
  scene.git('remote', 'add', 'origin', `http://me:${secret}@127.0.0.1:9/x.git`);
  config(JSON.stringify({ labels: ['linux'] }));
  const agent = scene.agent('echo "<signal>COMPLETE</signal>"');
  const started = await scene.pulse(['start', 'x', '--command', agent, '--detach', '--json']);
  const logs = join(scene.home, 'logs');
  const all = () =>
    readdirSync(logs)
      .map((name) => readFileSync(join(logs, name), 'utf8'))
      .join('');
  const { session } = started.json.at(-1) as unknown as { session: { id: string } };
  const told = await printed(['watch', session.id]);
  expect(told + started.stdout + started.stderr).not.toContain(secret);
  expect(all()).not.toContain(secret);
  expect(`${told}${all()}`).toContain('http://me:[redacted]@127.0.0.1:9/x.git');
  await scene.pulse(['abort', session.id]);
});

it('a remote whose address is an option is refused', async () => {
  scene.git('config', 'remote.origin.url', '--upload-pack=touch pwned');
  config(JSON.stringify({ labels: ['linux'] }));
  const { code, json } = await scene.pulse(['start', 'x', '--command', 'true', '--json']);
  expect([code, json[0]]).toMatchObject([2, { error: { code: 'invalid_config' } }]);
});

it('a report has no HTML and no picture of the goal’s', async () => {
  const agent = scene.agent(
    'echo "Did <b>it</b> ![p](http://evil.example/p.png) <script>x</script>"; echo "<signal>COMPLETE</signal>"',
  );
  const goal = 'Do <img src=http://evil.example/x> & <script>alert(1)</script>';
  const { stdout } = await scene.pulse(['start', goal, '--command', agent]);
  const id = /ses_[0-9a-f-]{36}/.exec(stdout)![0];
  const report = (await scene.pulse(['export', id, '--format', 'md'])).stdout;
  const outsideCode = report.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  expect(outsideCode).not.toMatch(/<[a-z/!]/i);
  expect(outsideCode).not.toContain('![');
  expect(outsideCode).toContain('&lt;script>alert(1)');
});
