/** A slice of 256 turns where a project has a million of them, on both stores. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_POLICY } from '../src/context/slice/policy.ts';
import { createSlice } from '../src/context/slice/slice.ts';
import { openSliceKeys } from '../src/context/slice/slice-keys.ts';
import { contentHash, PHASES } from '../src/context/turns.ts';
import { openPostgres } from '../src/store/open-postgres.ts';
import { openSqlite } from '../src/store/open-sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { insertTurns, type NewTurn } from '../src/store/turns.ts';
import { startPostgres } from '../test/fakes/postgres.ts';
import { ms, type Row, tell } from './row.ts';
import { median, quantile } from './statistics.ts';

const { values } = parseArgs({ options: { turns: { type: 'string', default: '1000000' } } });
const TURNS = Number(values.turns);
const ASKED = 300;
const PROJECT = 'bench';
let state = 7;

const folder = mkdtempSync(join(tmpdir(), 'pulse-slices-'));
const rows: Row[] = [];
{
  const store = await openSqlite({ path: join(folder, 'pulse.db') });
  rows.push(await measure('SQLite', store, 10));
  await store.close();
}
{
  await using server = await startPostgres({ isDurable: false });
  const store = await openPostgres({ url: await server.createDatabase(), connections: 4 });
  rows.push(await measure('PostgreSQL', store, 30));
  await store.close();
}
rmSync(folder, { recursive: true });
tell(rows);

async function measure(name: string, store: Store, target: number): Promise<Row> {
  await fill(store);
  const keys = await openSliceKeys(store);
  const took: number[] = [];
  for (let asked = 0; took.length < ASKED; asked++) {
    const anchorId = uuid(Math.floor(random() * TURNS));
    const began = performance.now();
    const slice = await store.read((db) => createSlice(db, { projectId: PROJECT, anchorId, keys }), {
      hasNoSnapshot: true,
    });
    const ms = performance.now() - began;
    // The first few warm what every process warms once. A short talk has fewer turns than a slice may have.
    if (asked >= 20 && slice?.node_count === DEFAULT_POLICY.params.maxNodes) took.push(ms);
  }
  const p99 = quantile(took, 0.99);
  return {
    what: `(x) a slice of ${DEFAULT_POLICY.params.maxNodes} turns out of ${TURNS.toLocaleString('en')}, ${name}`,
    measured: `p50 ${ms(median(took))}, p99 ${ms(p99)}`,
    beside: '',
    result: `p99 ${ms(p99)}`,
    target: `p99 ≤ ${target} ms`,
    isMet: p99 <= target,
  };
}

/** Talks of about a thousand turns. Two of five go on from a turn before that many go on from, as when people come back to a plan. */
async function fill(store: Store): Promise<void> {
  state = 7;
  let hub = 0;
  for (let from = 0; from < TURNS; from += 10_000) {
    const turns: NewTurn[] = [];
    for (let number = from; number < Math.min(from + 10_000, TURNS); number++) {
      const isRoot = number === 0 || random() < 0.001;
      const parent = isRoot ? null : random() < 0.6 ? number - 1 : hub;
      if (isRoot || random() < 0.01) hub = number;
      turns.push({
        ...{ id: uuid(number), parent_id: parent === null ? null : uuid(parent), project_id: PROJECT },
        ...{
          session_id: null,
          iteration_number: null,
          role: 'user',
          phase: PHASES[Math.floor(random() * 5)]!,
        },
        ...{ content: `turn ${number}`, content_hash: contentHash(`turn ${number}`), depth: 0 },
        ...{
          salience: Math.round(random() * 1000) / 1000,
          created_at: new Date(number * 1000).toISOString(),
        },
      });
    }
    await store.tx('fill', (db) => insertTurns(db, turns));
  }
}

/** Spread over the whole range, as real ids are: neighbours in time do not lie side by side. */
function uuid(number: number): string {
  const hex = contentHash(`${number}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
