/** A completion that changed the checks, decided by a person at the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useScene } from './scene.ts';

const scene = useScene();

/** The check is a script that the command names: it is protected. */
function project(): void {
  writeFileSync(join(scene.repository, 'check.sh'), 'grep -q old value.txt\n');
  writeFileSync(join(scene.repository, 'value.txt'), 'old\n');
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'a check');
}

const CHANGE = `echo new > value.txt; echo 'grep -q new value.txt' > check.sh
echo '<checks_changed>check.sh: the value is new now</checks_changed>'`;
const START = ['start', 'Make it new', '--verify', 'sh check.sh'];

it('pulse checks shows it, pulse accept last completes it', async () => {
  project();
  const agent = scene.agent(`${CHANGE}\necho '<signal>COMPLETE</signal>'`);
  const started = await scene.pulse([...START, '--command', agent]);
  expect(started.code, started.stdout + started.stderr).toBe(3);
  expect(started.stdout).toMatch(/pulse accept ses_/);
  const shown = await scene.pulse(['checks', 'last']);
  expect(shown.stdout).toContain('the value is new now');
  expect(shown.stdout).toContain('-grep -q old value.txt');
  const [told] = (await scene.pulse(['checks', 'last', '--json'])).json;
  expect(told).toMatchObject({ judgement: { verdict: 'ask', replay: { passed: false } } });
  expect((await scene.pulse(['resume', 'last'])).stderr).toContain('pulse accept');
  const accepted = await scene.pulse(['accept', 'last']);
  expect(accepted.code, accepted.stdout + accepted.stderr).toBe(0);
  const [status] = (await scene.pulse(['status', 'last', '--json'])).json;
  expect(status).toMatchObject({ session: { status: 'complete', trust: 'verified_checks_changed' } });
  expect((await scene.pulse(['accept', 'last'])).code).toBe(2);
});

it('pulse reject sends it back with a text', async () => {
  project();
  const agent = scene.agent(
    `if [ "$PULSE_ITERATION" = 1 ]; then\n${CHANGE}\nelse git checkout -q HEAD~1 -- .; fi\necho '<signal>COMPLETE</signal>'`,
  );
  await scene.pulse([...START, '--command', agent]);
  expect((await scene.pulse(['reject', 'last'])).code).toBe(2);
  const rejected = await scene.pulse([
    'reject',
    'last',
    'Keep the old snapshot; the header must not change.',
  ]);
  expect(rejected.code, rejected.stdout + rejected.stderr).toBe(0);
  const [status] = (await scene.pulse(['status', 'last', '--json'])).json;
  expect(status).toMatchObject({ session: { trust: 'verified', current_iteration: 2 } });
});
