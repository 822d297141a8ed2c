/** What an ended session keeps, in a whole Pulse: little, and nothing that anybody could miss. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { words } from '../fakes/words.ts';
import { write } from '../git/fixture.ts';
import { makeScene } from './scene.ts';

const LENGTH = 6_000;
const COMPARED = 5_000;

it('packs the texts of a session that has ended, and shows them as before wherever they are asked for', async () => {
  const scene = await makeScene();
  const { pulse, folder, store } = scene;
  for (const number of [1, 2, 3]) write(folder, { [`said-${number}.txt`]: words(LENGTH, number) });
  const script = (last: number) => `cat > ${folder}/brief-$PULSE_ITERATION.txt
    date +%N > step-$PULSE_ITERATION.txt; cat ${folder}/said-$PULSE_ITERATION.txt; echo
    [ $PULSE_ITERATION = ${last} ] && echo '<signal>COMPLETE</signal>' || echo '<signal>CONTINUE</signal>'`;
  const session = await scene.startAndRun(script(3));
  expect(session.status).toBe('complete');
  const packs = await store.read((db) =>
    db.selectFrom('packs').select(['kind', 'first_number', 'last_number']).execute(),
  );
  expect(packs).toContainEqual({ kind: 'texts', first_number: 1, last_number: 3 });

  const { iterations } = await pulse.show(session.id);
  expect(iterations.map(({ task_content }) => task_content)).toEqual(
    [1, 2, 3].map((number) => readFileSync(`${folder}/brief-${number}.txt`, 'utf8')),
  );
  expect(iterations.map(({ output_full }) => output_full?.slice(0, COMPARED))).toEqual(
    [1, 2, 3].map((number) => words(COMPARED, number)),
  );
  const context = await pulse.showContext(session.id, { maxTurns: 2 });
  expect(context.turns.at(-1)?.content.slice(0, COMPARED)).toBe(words(COMPARED, 3));
  expect(context.iteration?.task_content).toBe(iterations[2]?.task_content);

  const next = await scene.startAndRun(script(1), { anchorTurnId: context.turns.at(-1)!.id });
  expect(next.status).toBe('complete');
  const { anchor } = await pulse.showContext(next.id, { maxTurns: 1 });
  expect(anchor).toMatchObject({ session_id: session.id, iteration_number: 3 });
  expect(anchor?.content.slice(0, COMPARED)).toBe(words(COMPARED, 3));
});
