/**
 * Draws the pictures of docs/dashboard.md, and holds the page to them. After a change that is meant they are kept by
 * `PULSE_PICTURES=docs/pictures npm test -- test/web/pictures.test.ts`.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DEMO_GOAL, DEMO_VERIFY } from '../../src/agents/demo/repository.ts';
import { BROWSER, type Look, settled, useWebScene } from './scene.ts';
import { differenceOf, holdStill, lettersOf, steadyId } from './steady.ts';

const { PULSE_PICTURES: FOLDER } = process.env;
const KEPT = join(import.meta.dirname, '../../docs/pictures');
/** What the kept ones were drawn with. */
const LETTERS = join(KEPT, 'letters.txt');
/** One pixel in a thousand may be another. */
const MOST_OTHERS = 0.001;
const scene = useWebScene();

describe.skipIf(!BROWSER)('the pictures of the document', () => {
  it('are drawn, and are those that are kept', async ({ skip }) => {
    const projectPath = scene.repository;
    const blocked = await scene.start({ goal: DEMO_GOAL, agent: 'demo', verify: [...DEMO_VERIFY] });
    await scene.waitFor(blocked, 'blocked');
    const done = await scene.start({
      goal: 'Say hello in hello.txt',
      command: 'cat > /dev/null; echo hello > hello.txt; echo "It says hello. <signal>COMPLETE</signal>"',
      verify: ['grep -q hello hello.txt'],
    });
    const tidied = await scene.start({
      goal: 'Tidy the README',
      command: 'cat > /dev/null; echo tidy >> README.md; echo "Tidied. <signal>COMPLETE</signal>"',
    });
    const running = await scene.start({
      goal: 'Read large files as streams',
      command: 'cat > /dev/null; echo "Looking around."; sleep 60',
    });
    const { sessionId: review } = await scene.ask('POST', '/api/workflows', {
      projectPath,
      plan: {
        title: 'Count the words of titles',
        pulses: [{ id: 'count', title: 'Count words', description: 'Write src/count.js.' }],
        verify: [{ command: 'node src/count.js', source: 'Test' }],
      },
      approve: true,
      command: `cat > /dev/null; printf '%s\\n' '/** "the quick fox" has 3. */' 'export function countWords(title) {' '  return title.split(/\\s+/).filter(Boolean).length;' '}' > src/count.js; pulse tool pulse_done '{"summary": "feat: count the words of a title", "filesChanged": ["src/count.js"]}'`,
    });
    const { sessionId: research } = await scene.ask('POST', '/api/research', {
      projectPath,
      research: {
        goal: 'A shorter README',
        metric: { name: 'bytes', direction: 'lower', verifyCommand: 'wc -c < README.md' },
        scope: { inScope: ['README.md'] },
      },
      iterations: 6,
      command:
        'cat > /dev/null; if [ $((PULSE_ITERATION % 3)) = 0 ]; then echo longer >> README.md; else head -c -4 README.md > x; cat x > README.md; rm x; fi; echo "Try $PULSE_ITERATION."',
    });
    await Promise.all([
      scene.waitFor(done, 'complete'),
      scene.waitFor(tidied, 'complete'),
      scene.waitFor(review, 'blocked'),
      scene.waitFor(research, 'complete'),
    ]);
    const all = [blocked, done, tidied, running, review, research];
    const drawn = [
      await draw(all, ['overview', '/', { theme: 'dark' }]),
      await draw(all, ['session', `/s/${steadyId(all, blocked)}`]),
      await draw(all, ['review', `/w/${steadyId(all, review)}/review`, { theme: 'dark' }]),
      await draw(all, ['research', `/r/${steadyId(all, research)}`]),
      await draw(all, ['phone', `/s/${steadyId(all, blocked)}`, { width: 390, theme: 'dark' }]),
    ];
    await scene.ask('POST', `/api/pulse/${running}/abort`);
    const page = await scene.openElsewhere('about:blank');
    const letters = await lettersOf(page);
    if (FOLDER) writeFileSync(join(FOLDER, 'letters.txt'), `${letters}\n`);
    const others: string[] = [];
    for (const name of drawn) {
      const pictures = [join(KEPT, `${name}.png`), pathOf(name)].map((path) => readFileSync(path));
      const part = await differenceOf(page, [pictures[0]!, pictures[1]!]);
      if (part > MOST_OTHERS) others.push(`${name}: ${(part * 100).toFixed(2)} % of it`);
    }
    await page.close();
    if (letters !== readFileSync(LETTERS, 'utf8').trim())
      skip(
        'Letters are drawn otherwise on this machine: its pictures are not compared with those that are kept.',
      );
    expect(others, 'if that is meant, look at them and keep them: PULSE_PICTURES=docs/pictures').toEqual([]);
  });
});

function pathOf(name: string): string {
  return join(scene.directory, `${name}.png`);
}

/** Answers its name. */
async function draw(
  sessions: readonly string[],
  [name, address, look]: [name: string, address: string, look?: Look],
): Promise<string> {
  const page = await scene.open('/login', { ...look, isSteady: true });
  await holdStill(page, scene, sessions);
  await page.goto(scene.url + address);
  await settled(page);
  await page.getByText('live', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: pathOf(name) });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.close();
  const { width, height, shades } = pictureAt(pathOf(name));
  expect([name, width, height]).toEqual([name, look?.width ?? 1280, look?.width === 390 ? 844 : 800]);
  // Letters have soft edges: what is blank, or text without a style, has few shades.
  expect(shades, name).toBeGreaterThan(40);
  if (FOLDER) copyFileSync(pathOf(name), join(FOLDER, `${name}.png`));
  return name;
}

/** A PNG's own words on its size, and how many values its pixels have. */
function pictureAt(path: string): { width: number; height: number; shades: number } {
  const png = readFileSync(path);
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const shades = new Set(inflateSync(Buffer.concat(parts))).size;
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), shades };
}
