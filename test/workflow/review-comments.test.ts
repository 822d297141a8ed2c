import { expect, it } from 'vitest';
import { reviewText } from '../../src/loops/workflow/operations/review-comments.ts';
import { makeApiScene } from '../api/scene.ts';

it('tells what is said of lines by file and line, behind what is said of the whole', () => {
  const comments = [
    { path: 'src/b.ts', side: 'new', line: 3, text: 'Rename it.' },
    { path: 'src/a.ts', side: 'old', line: 20, text: ' This was right. ' },
    { path: 'src/a.ts', side: 'new', line: 4, text: 'Why?' },
  ] as const;
  expect(reviewText('Not yet.', comments)).toBe(
    'Not yet.\n\n- "src/a.ts", line 4: Why?\n- "src/a.ts", line 20 as it was before: This was right.\n- "src/b.ts", line 3: Rename it.',
  );
  expect(reviewText(undefined, comments.slice(0, 1))).toBe('- "src/b.ts", line 3: Rename it.');
});

it('refuses comments that are none, and those beside an approval', async () => {
  const { ask, root } = await makeApiScene();
  const plan = { title: 'Greet', pulses: [{ id: 'one', title: 'One', description: 'Say hello.' }] };
  const started = await ask('POST', '/api/workflows', { body: { plan, projectPath: root, command: 'true' } });
  const review = (body: object) => ask('POST', `/api/workflows/${started.json.sessionId}/review`, { body });
  const comment = { path: 'a', side: 'new', line: 1, text: 'x' };
  for (const comments of [
    [{ ...comment, side: 'left' }],
    [{ ...comment, line: 0 }],
    [{ ...comment, text: ' ' }],
    {},
  ])
    expect((await review({ comments })).status).toBe(422);
  expect((await review({ approve: true, comments: [comment] })).status).toBe(422);
  // Understood, and too early: nothing waits for a review.
  expect((await review({ comments: [comment] })).status).toBe(409);
});
