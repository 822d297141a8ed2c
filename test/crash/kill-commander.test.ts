/** Real SIGKILL during calls to a commander elsewhere: no call is lost, and a repeated one has the same key. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProcessTable } from '../../src/process/process-table.ts';
import { createPulse } from '../../src/pulse.ts';
import { OWN_NODE } from '../e2e/scene.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import type { ToldCall } from '../research-loop/fixtures/commander.ts';
import { idea, prepareLab, startResearch } from '../research-loop/lab.ts';
import { actionOf, drawFor, processesOf, runner, type StoreOfSuite } from './kill-suite.ts';

const SERVER = join(import.meta.dirname, '../research-loop/fixtures/commander-server.ts');
const IDEAS = { 'exp-1': idea('cheaper', 90), 'exp-2': idea('dearer', 95) };
const OPERATIONS = ['create', 'claim', 'complete', 'comment:add'];
/** Two experiments of four calls, and the result. */
const POINTS = ['deliver:before', 'deliver:after'].flatMap((where) =>
  [1, 4, 9].map((count) => ({ where, count })),
);

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const PLACES: StoreOfSuite[] = [
  { store: 'SQLite', prepare: async () => undefined },
  {
    store: 'PostgreSQL',
    isSecond: true,
    async prepare({ environment }) {
      environment.PULSE_DATABASE_URL = await server.createDatabase();
    },
  },
];

describe.each(PLACES)('research on $store', (place) => {
  it.each(drawFor(place, POINTS, { of: 'a commander', kind: actionOf }))(
    'killed at $where ($count) tells the commander everything',
    { timeout: 120_000 },
    async (one) => {
      using scratch = createScratch();
      await place.prepare(scratch);
      const log = nameCommander(scratch);
      const id = await admit(scratch);
      expect(await runner(scratch, id, one)).toBe('SIGKILL');
      expect(await runner(scratch, id)).toBe(0);
      await using pulse = await createPulse({ environment: scratch.environment });
      expect((await pulse.research.rows(id)).experiments.map(({ status }) => status)).toEqual([
        'keep',
        'discard',
      ]);

      const tasks = await pulse.commander.listTasks({ group_id: id });
      expect(tasks.map(({ status, comments }) => [status, comments.length])).toEqual([
        ['completed', 1],
        ['completed', 1],
      ]);
      expect(await pulse.commander.listMessages({ group_id: id })).toHaveLength(1);

      const calls = readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as ToldCall);
      const keys = calls.map(({ key }) => String(key).slice(id.length + 1));
      const expected = ['exp-1', 'exp-2'].flatMap((unit) =>
        OPERATIONS.map((operation) => `${unit}/${operation}`),
      );
      expect([...new Set(keys)]).toEqual([...expected, 'result/send']);
      // The kills are on either side of a whole delivery: nothing is told twice.
      expect(keys).toHaveLength(9);
      expect(processesOf(scratch)).toEqual([]);
      expect(serversLeft(log)).toEqual([]);
    },
  );
});

function nameCommander(scratch: Scratch): string {
  const log = join(scratch.path, 'told');
  const folder = join(scratch.path, 'config/pulse');
  mkdirSync(folder, { recursive: true });
  const commander = { command: `'${OWN_NODE}' '${SERVER}' '${log}'` };
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ research: { commander } }));
  scratch.environment.XDG_CONFIG_HOME = join(scratch.path, 'config');
  return log;
}

async function admit(scratch: Scratch): Promise<string> {
  prepareLab(scratch);
  await using pulse = await createPulse({ environment: scratch.environment });
  return await startResearch(pulse, scratch, { iterations: 2, scripts: IDEAS });
}

/** What a killed runner had started ends with it. */
function serversLeft(log: string): string[] {
  const table = openProcessTable();
  const pids = readFileSync(`${log}.pids`, 'utf8').trim().split('\n');
  return pids.filter((pid) => table.stat(Number(pid))?.isZombie === false);
}
