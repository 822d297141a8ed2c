/** Draws the pictures of docs/dashboard.md; they are kept by `PULSE_PICTURES=docs/pictures npm test -- test/web/pictures.test.ts`. */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DEMO_GOAL, DEMO_VERIFY } from '../../src/agents/demo/repository.ts';
import { BROWSER, type Look, useWebScene } from './scene.ts';

const { PULSE_PICTURES: FOLDER } = process.env;
const scene = useWebScene();

describe.skipIf(!BROWSER)('the pictures of the document', () => {
  it('are drawn', async () => {
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
    await draw('overview', '/', { theme: 'dark' });
    await draw('session', `/s/${blocked}`);
    await draw('review', `/w/${review}/review`, { theme: 'dark' });
    await draw('research', `/r/${research}`);
    await draw('phone', `/s/${blocked}`, { width: 390, theme: 'dark' });
    await scene.ask('POST', `/api/pulse/${running}/abort`);
  });
});

async function draw(name: string, address: string, look?: Look): Promise<void> {
  const page = await scene.open(address, look);
  await page.locator('h1').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.loading').length === 0);
  await page.waitForLoadState('load');
  const path = join(scene.directory, `${name}.png`);
  await page.screenshot({ path });
  await page.close();
  const { width, height, shades } = pictureAt(path);
  expect([name, width, height]).toEqual([name, look?.width ?? 1280, look?.width === 390 ? 844 : 800]);
  // Letters have soft edges: what is blank, or text without a style, has few shades.
  expect(shades, name).toBeGreaterThan(40);
  if (FOLDER) copyFileSync(path, join(FOLDER, `${name}.png`));
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
