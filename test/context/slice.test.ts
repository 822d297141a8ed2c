import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, policyOf } from '../../src/context/slice/policy.ts';
import { createSlice, createSlices, type Slice } from '../../src/context/slice/slice.ts';
import { openSliceKeys, rotateSliceKey } from '../../src/context/slice/slice-keys.ts';
import { isAdmissible, type SliceKeys } from '../../src/context/slice/slice-token.ts';
import { contentHash, PHASES, type Phase } from '../../src/context/turns.ts';
import type { Store } from '../../src/store/store.ts';
import { insertTurns, markHinted, type NewTurn } from '../../src/store/turns.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { at, uuid } from './transcripts.ts';

const keys: SliceKeys = [{ id: 'ab', secret: new Uint8Array(32) }];

interface Drawn {
  /** Its place among those before it; none: a root. */
  parent: number | null;
  phase: Phase;
  salience: number;
}

function rows(drawn: readonly Drawn[], projectId = 'project'): NewTurn[] {
  return drawn.map(({ parent, phase, salience }, number) => ({
    id: uuid(number),
    parent_id: parent === null ? null : uuid(parent),
    project_id: projectId,
    session_id: null,
    iteration_number: null,
    role: 'user',
    phase,
    content: `turn ${number}`,
    content_hash: contentHash(`turn ${number}`),
    salience,
    depth: 0,
    created_at: at(number),
  }));
}

const insert = (store: Store, turns: NewTurn[]) => store.tx('test', (db) => insertTurns(db, turns));
const slice = (store: Store, anchor: number, { projectId = 'project', policy = DEFAULT_POLICY } = {}) =>
  store.read((db) => createSlice(db, { projectId, anchorId: uuid(anchor), policy, keys }));

/** The rule, word by word, without any care for speed. */
function expected(drawn: readonly Drawn[], anchor: number, { maxNodes = 256, radius = 10 } = {}): string[] {
  const weights = { synthesis: 1, planning: 0.9, consolidation: 0.6, debugging: 0.5, exploration: 0.3 };
  const distances = new Map([[anchor, 0]]);
  const taken = new Set<number>();
  const priority = (each: number) => {
    const { phase, salience } = drawn[each]!;
    return Math.round((weights[phase] + salience * 0.3) * 0.9 ** distances.get(each)! * 1e9);
  };
  while (taken.size < maxNodes) {
    const [next] = [...distances.keys()]
      .filter((each) => !taken.has(each))
      .sort((a, b) => priority(b) - priority(a) || distances.get(a)! - distances.get(b)! || a - b);
    if (next === undefined) break;
    taken.add(next);
    const offer = (each: number, distance: number) => {
      if (distance <= radius && distance < (distances.get(each) ?? 99)) distances.set(each, distance);
    };
    const { parent } = drawn[next]!;
    const childrenOf = (of: number) => drawn.flatMap((turn, number) => (turn.parent === of ? [number] : []));
    if (parent !== null) offer(parent, distances.get(next)! + 1);
    for (const child of childrenOf(next)) offer(child, distances.get(next)! + 1);
    const siblings = parent === null ? [] : childrenOf(parent).filter((each) => each !== next);
    for (const sibling of siblings.slice(0, 5)) offer(sibling, distances.get(next)!);
  }
  return [...taken].map(uuid).sort();
}

const drawnTurn = (below: number) =>
  fc.record({
    parent: below === 0 ? fc.constant(null) : fc.option(fc.nat(below - 1), { freq: 12 }),
    phase: fc.constantFrom(...PHASES),
    salience: fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000),
  });
const drawnGraph = fc
  .integer({ min: 1, max: 60 })
  .chain((size) => fc.tuple(...Array.from({ length: size }, (_, number) => drawnTurn(number))));

const slices = new Map<string, unknown>();

onBothStores((open) => {
  describe('a slice', () => {
    it('is what it was: the ids of a known graph', async () => {
      const store = await open();
      await insert(
        store,
        rows([
          { parent: null, phase: 'planning', salience: 0.5 },
          { parent: 0, phase: 'exploration', salience: 0.2 },
          { parent: 0, phase: 'consolidation', salience: 0.5 },
          { parent: 2, phase: 'synthesis', salience: 1 },
          { parent: null, phase: 'planning', salience: 0.6 },
        ]),
      );
      expect(await slice(store, 2)).toEqual({
        slice_id: '5f8353f8a31314cc24bbb99d23646ba68f9f42b34a42f8f3ba9351c4384b56ac',
        anchor_turn_id: uuid(2),
        turn_ids: [0, 1, 2, 3].map(uuid),
        edges: [
          { parent: uuid(0), child: uuid(1) },
          { parent: uuid(0), child: uuid(2) },
          { parent: uuid(2), child: uuid(3) },
        ],
        node_count: 4,
        policy_id: 'default',
        policy_params_hash: '5d7cfef09e850b5a6b7d5faf1766450228bce6081a6dbb525d32bac12b96dc26',
        graph_snapshot_hash: '26e039727a1a7e98f278887c2f4b9f8a475664684d738f6df36fdc4373df06b2',
        admissibility_token: 'ab.caa9bfb8a4cd36b40d36a297400c2c20',
      });
      expect(await slice(store, 77)).toBeNull();
      expect(await slice(store, 2, { projectId: 'other' })).toBeNull();
    });

    it('takes what the rule says, on both stores and in every order of import', async () => {
      const store = await open();
      let run = 0;
      const seed = 20261116;
      await fc.assert(
        fc.asyncProperty(drawnGraph, fc.nat(), fc.nat(), async (drawn, which, shuffle) => {
          const projects = [`a${run}`, `b${run}`];
          const anchor = which % drawn.length;
          const turns = rows(drawn, projects[0]);
          await insert(store, turns);
          const order = turns.toSorted((a, b) => hash(a.id, shuffle) - hash(b.id, shuffle));
          await insert(
            store,
            order.map((turn) => ({ ...turn, project_id: projects[1]! })),
          );
          const [one, two] = await Promise.all(
            projects.map((projectId) => slice(store, anchor, { projectId })),
          );
          expect(one).toEqual(two);
          expect(one!.turn_ids).toEqual(expected(drawn, anchor));
          const near = await slice(store, anchor, { projectId: projects[0], policy: policyOf('near') });
          expect(near!.turn_ids).toEqual(expected(drawn, anchor, { maxNodes: 32, radius: 3 }));
          const other = slices.get(`${run}`) ?? one;
          slices.set(`${run++}`, one);
          expect(one).toEqual(other);
        }),
        { numRuns: 40, seed, endOnFailure: true },
      );
    });

    it('has at most 256 turns, the best children of a turn that has a thousand', async () => {
      const store = await open();
      const drawn: Drawn[] = [
        { parent: null, phase: 'planning', salience: 0.5 },
        ...Array.from({ length: 1000 }, (_, number) => ({
          parent: 0,
          phase: PHASES[number % 5]!,
          salience: (number % 100) / 100,
        })),
      ];
      await insert(store, rows(drawn));
      const found = (await slice(store, 0))!;
      expect(found.node_count).toBe(256);
      expect(found.turn_ids).toEqual(expected(drawn, 0));
      expect((await slice(store, 500))!.turn_ids).toEqual(expected(drawn, 500));
    });

    it('changes its id with the graph: a hint makes a turn weigh more, once', async () => {
      const store = await open();
      await insert(store, rows([{ parent: null, phase: 'planning', salience: 0.5 }]));
      const before = await slice(store, 0);
      const hint = () =>
        store.tx('test', (db) =>
          markHinted(db, { projectId: 'project', id: uuid(0), raise: (salience) => salience + 0.1 }),
        );
      await hint();
      const after = await slice(store, 0);
      expect(after!.slice_id).not.toBe(before!.slice_id);
      await hint();
      expect(await slice(store, 0)).toEqual(after);
    });

    it('of several anchors at once is that of each', async () => {
      const store = await open();
      await insert(store, rows([0, 1].map(() => ({ parent: null, phase: 'planning', salience: 0.5 }))));
      const anchorIds = [1, 0, 9].map(uuid);
      const found = await store.read((db) => createSlices(db, { projectId: 'project', anchorIds, keys }));
      expect(found).toEqual([await slice(store, 1), await slice(store, 0)]);
    });
  });

  describe('a token', () => {
    it('checks after its key was replaced, and no longer when a turn was exchanged', async () => {
      const store = await open();
      await insert(store, rows([{ parent: null, phase: 'planning', salience: 0.5 }]));
      const first = await openSliceKeys(store);
      const names = (found: SliceKeys) => found.map(({ id }) => id);
      expect(names(await openSliceKeys(store))).toEqual(names(first));
      const signed = (await store.read((db) =>
        createSlice(db, { projectId: 'project', anchorId: uuid(0), keys: first }),
      )) as Slice;
      expect(signed.admissibility_token).toMatch(/^[0-9a-f]+\.[0-9a-f]{32}$/);
      const second = await store.tx('test', rotateSliceKey);
      expect(second[0].id).not.toBe(first[0].id);
      expect(await openSliceKeys(store)).toHaveLength(2);
      expect(isAdmissible(second, signed)).toBe(true);
      expect(isAdmissible([second[0]], signed)).toBe(false);
      expect(isAdmissible(second, { ...signed, turn_ids: [...signed.turn_ids, uuid(1)] })).toBe(false);
      expect(isAdmissible(second, { ...signed, slice_id: 'x' })).toBe(false);
      for (const token of ['', '.', `${first[0].id}.00`, `${first[0].id}.${'0'.repeat(32)}`, 'é.é'])
        expect(isAdmissible(second, { ...signed, admissibility_token: token })).toBe(false);
    });
  });
});

function hash(id: string, salt: number): number {
  return Number.parseInt(contentHash(`${id}${salt}`).slice(0, 8), 16);
}
