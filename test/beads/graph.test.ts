import type { KyselyPlugin } from 'kysely';
import { describe, expect, it } from 'vitest';
import { reservePaths } from '../../src/coordination/reservations/reservations.ts';
import { withCoordinationTables } from '../../src/coordination/tables.ts';
import { bounceIncomplete } from '../../src/loops/beads/graph/bounce.ts';
import { widenScope } from '../../src/loops/beads/graph/change.ts';
import { claimNextBead, releaseClaim, requireClaim } from '../../src/loops/beads/graph/claim.ts';
import { withGraph } from '../../src/loops/beads/graph/graph.ts';
import { getBead, listBeads, lockProject } from '../../src/loops/beads/graph/rows.ts';
import { type Db, isPostgres } from '../../src/store/store.ts';
import { ids, onBothStores } from '../coordination/both-stores.ts';
import { beadsOf, PROJECT, READY } from './beads.ts';

onBothStores((open) => {
  describe('a bead', () => {
    it('is made with what has a default', async () => {
      const store = await open();
      const beads = beadsOf(store);
      const epic = await beads.create({ title: 'Sign in: Größe!', type: 'epic', fields: undefined });
      const bead = await beads.create({ epic: epic.id, dependencies: [] });
      expect(bead).toMatchObject({
        status: 'open',
        priority: 2,
        epic: epic.id,
        missing: [],
        fields: {
          verification_evidence: `history/sign-in-grosse/verification/${bead.id}.md`,
          testing_mode: 'standard',
          decision_refs: [],
          learning_refs: [],
        },
      });
      expect(epic).toMatchObject({ status: 'open', missing: [] });
      expect(bead.id).toMatch(/^test-[0-9a-z]{4}$/);
      expect(await store.read((db) => getBead(db, PROJECT, bead.id))).toEqual(bead);
    });

    it('has its evidence beside that of no other epic, in whatever script their titles are', async () => {
      const beads = beadsOf(await open());
      const features: string[] = [];
      for (const title of ['日本語', '中文', 'Глава 1', 'Раздел 1', 'Größe', '???']) {
        const { id } = await beads.create({ title, type: 'epic', fields: undefined });
        const { fields } = await beads.create({ epic: id, dependencies: [] });
        features.push(String(fields.verification_evidence).split('/')[1]!);
      }
      expect(new Set(features).size).toBe(6);
      expect(features.slice(2, 4)).toEqual([expect.stringMatching(/^1-/), expect.stringMatching(/^1-/)]);
      expect(features.slice(4)).toEqual(['grosse', 'untitled']);
    });

    it('goes back to planning when a field is missing, and the coordinator is told each one', async () => {
      const store = await open();
      const beads = beadsOf(store);
      const epic = await beads.create({ type: 'epic' });
      const bead = await beads.create({ epic: epic.id, fields: { testing_mode: 'tdd-required' } });
      expect(bead).toMatchObject({
        status: 'blocked',
        labels: ['needs-planning'],
        missing: ['files', 'verify', 'tdd_steps'],
      });
      const messages = await store.read((db) =>
        withCoordinationTables(db)
          .selectFrom('mail_messages')
          .innerJoin('mail_recipients', 'message_number', 'number')
          .select(['topic', 'thread_id', 'subject', 'body_md', 'agent_name'])
          .execute(),
      );
      expect(messages).toMatchObject([
        {
          topic: `epic-${epic.id}`,
          thread_id: epic.id,
          subject: `${bead.id} needs planning`,
          agent_name: 'coordinator',
        },
      ]);
      for (const field of bead.missing) expect(messages[0]!.body_md).toContain(field);
      expect((await beads.next()).bead).toBeNull();
      const mended = await beads.update(bead.id, {
        fields: { ...READY.fields, tdd_steps: { red: 'r', green: 'g' } },
      });
      expect(mended).toMatchObject({ status: 'open', labels: [], missing: [] });
      expect((await beads.next()).bead?.id).toBe(bead.id);
    });

    it('is refused with what it must not be', async () => {
      const beads = beadsOf(await open());
      const refusals = [
        [{ priority: 5 }, 'invalid_input'],
        [{ priority: -1 }, 'invalid_input'],
        [{ priority: 1.5 }, 'invalid_input'],
        [{ title: '  ' }, 'invalid_input'],
        [{ id: '../x' }, 'invalid_input'],
        [{ epic: 'nobody' }, 'not_found'],
        [{ dependencies: ['nobody'] }, 'not_found'],
        [{ fields: { files: ['../x'] } }, 'path_outside'],
        [{ fields: { files: ['/etc/passwd'] } }, 'path_outside'],
        [{ fields: { files: ['.git/config'] } }, 'path_outside'],
        [{ fields: { files: Array.from({ length: 201 }, (_, index) => `${index}.ts`) } }, 'too_large'],
        [{ fields: { verification_evidence: 'docs/*.md' } }, 'invalid_input'],
        [{ fields: { verification_evidence: ['a.md', '**'] } }, 'invalid_input'],
        [{ fields: { verification_evidence: '.' } }, 'invalid_input'],
        [{ fields: { verification_evidence: 'a\nb.md' } }, 'invalid_input'],
        [{ fields: { verification_evidence: '../a.md' } }, 'path_outside'],
        [{ fields: { verification_evidence: '.pulse/STATE.md' } }, 'path_outside'],
        [{ fields: { verification_evidence: 'sub/.GIT/hooks/x' } }, 'path_outside'],
        [{ fields: { testing_mode: 'sometimes' as never } }, 'invalid_input'],
        [{ fields: { verify: [{ command: 'x', expect: '/[/' }] } }, 'invalid_input'],
        [{ fields: { verify: [{ command: ' ' }] } }, 'invalid_input'],
        [{ fields: { feature: '../..' } }, 'invalid_input'],
      ] as const;
      for (const [bead, code] of refusals)
        await expect(beads.create(bead as never), JSON.stringify(bead)).rejects.toMatchObject({ code });
      const task = await beads.create();
      await expect(beads.create({ epic: task.id })).rejects.toMatchObject({ code: 'invalid_input' });
      await expect(beads.create({ id: task.id })).rejects.toMatchObject({ code: 'invalid_input' });
      await expect(beads.update('nobody', {})).rejects.toMatchObject({ code: 'not_found' });
      await expect(beads.close('nobody')).rejects.toMatchObject({ code: 'not_found' });
    });

    it('never waits for itself, in however many steps', async () => {
      const store = await open();
      const beads = beadsOf(store);
      const a = await beads.create({ id: 'a' });
      await expect(beads.update('a', { dependencies: ['a'] })).rejects.toMatchObject({
        data: { cycle: ['a'] },
      });
      await beads.create({ id: 'b', dependencies: ['a'] });
      await beads.create({ id: 'c', dependencies: ['b'] });
      await expect(beads.update('a', { dependencies: ['c'] })).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/(a waits for c|c waits for b|b waits for a)/),
      });
      await beads.create({ id: 'e1', type: 'epic' });
      await beads.create({ id: 'e2', type: 'epic', epic: 'e1' });
      await expect(beads.update('e1', { epic: 'e2' })).rejects.toMatchObject({ code: 'invalid_input' });
      expect(await store.read((db) => getBead(db, PROJECT, 'a'))).toEqual(a);
    });

    it('changes in four fields when it is closed, and opens again', async () => {
      const store = await open();
      const beads = beadsOf(store);
      const before = await beads.create();
      const closed = await beads.close(before.id, 'Completed: it works');
      expect(closed).toEqual({
        ...before,
        status: 'closed',
        close_reason: 'Completed: it works',
        closed_at: closed.updated_at,
        updated_at: closed.updated_at,
        revision: closed.revision,
      });
      expect(await beads.close(before.id, 'again')).toEqual(closed);
      const again = await beads.update(before.id, { status: 'open' });
      expect(again).toMatchObject({ status: 'open', closed_at: null, close_reason: null });
    });
  });

  it('may be widened by files of the repository', async () => {
    const store = await open();
    const { id } = await beadsOf(store).create();
    const widen = (...files: string[]) =>
      store.tx('scope', async (db) =>
        widenScope(db, await lockProject(db, PROJECT), { id, files, ids, root: '/r' }),
      );
    expect((await widen('/r/src/b.ts', 'src/a.ts')).fields.files).toEqual(['src/a.ts', 'src/b.ts']);
    await expect(widen('/elsewhere')).rejects.toMatchObject({ code: 'path_outside' });
  });

  describe('next', () => {
    it('says what it chose and why not the others', async () => {
      const store = await open();
      const beads = beadsOf(store);
      const epic = await beads.create({ id: 'e', type: 'epic' });
      await beads.create({ id: 'urgent', priority: 0, dependencies: [], epic: epic.id });
      await beads.create({ id: 'waits', priority: 0, dependencies: ['urgent'], epic: epic.id });
      await beads.create({ id: 'waits-more', dependencies: ['waits'], epic: epic.id });
      await beads.create({ id: 'bare', fields: {}, epic: epic.id });
      await beads.create({ id: 'elsewhere', priority: 0 });
      const { bead, why } = await beads.next({ epic: epic.id, isExplained: true });
      expect(bead?.id).toBe('urgent');
      expect(why.chosen).toMatchObject({ id: 'urgent', priority: 0, critical_path: 2, unblocks: 1 });
      expect(why.chosen!.pagerank).toBeGreaterThan(0.2);
      expect(new Map(why.skipped.map(({ id, reasons }) => [id, reasons]))).toEqual(
        new Map([
          ['waits', ['it waits for urgent']],
          ['waits-more', ['it waits for waits']],
          ['bare', ['its status is blocked', 'it lacks files, verify']],
        ]),
      );
      await expect(beads.next({ epic: 'urgent' })).rejects.toMatchObject({ code: 'not_found' });
      await expect(beads.next({ epic: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
    });

    it('sees at once what another process has written', async () => {
      const [one, other] = [await open(), await open()];
      const [here, there] = [beadsOf(one), beadsOf(other)];
      await here.create({ id: 'first', priority: 1 });
      expect((await there.next()).bead?.id).toBe('first');
      await here.create({ id: 'second', priority: 0 });
      expect((await there.next()).bead?.id).toBe('second');
      await here.update('first', { dependencies: ['second'] });
      await there.close('second');
      expect((await here.next()).bead?.id).toBe('first');
      await there.update('second', { status: 'open' });
      expect((await here.next({ isExplained: true })).why).toMatchObject({
        chosen: { id: 'second' },
        skipped: [{ id: 'first', reasons: ['it waits for second'] }],
      });
    });

    it('does not mix up two questions that are asked at once', async ({ skip }) => {
      const [store, other] = [await open(), await open()];
      // SQLite asks one question after the other.
      if (!(await store.read(async (db) => isPostgres(db)))) skip();
      await beadsOf(other).create({ id: 'a' });
      const [begun, closed, held, answered] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
      const ask = (db: Db) => withGraph(store, db, { projectId: PROJECT, use: () => undefined });
      /** Sees the bead open, and asks for the graph when it is closed. */
      const early = store.read(async (db) => {
        await getBead(db, PROJECT, 'a');
        begun!.resolve();
        await closed!.promise;
        await ask(db);
      });
      await begun!.promise;
      await beadsOf(other).close('a');
      /** Sees it closed, and gets its rows after the other has used its own. */
      const slow: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          if (!result.rows.some((row) => 'revision' in row)) {
            held!.resolve();
            await answered!.promise;
          }
          return result;
        },
      };
      const late = store.read((db) => ask(db.withPlugin(slow)));
      await held!.promise;
      closed!.resolve();
      await early;
      answered!.resolve();
      await late;
      expect((await beadsOf(store).next()).bead).toBeNull();
    });

    it('finds beads of epics within the epic', async () => {
      const beads = beadsOf(await open());
      await beads.create({ id: 'outer', type: 'epic' });
      await beads.create({ id: 'inner', type: 'epic', epic: 'outer' });
      await beads.create({ id: 'deep', epic: 'inner' });
      expect((await beads.next({ epic: 'outer' })).bead?.id).toBe('deep');
      await beads.close('inner');
      expect((await beads.next({ epic: 'outer' })).bead?.id).toBe('deep');
    });

    it('passes over what another agent has reserved', async () => {
      const store = await open();
      const beads = beadsOf(store);
      for (let number = 0; number < 40; number++)
        await beads.create({
          id: `taken-${number}`,
          priority: 0,
          fields: { ...READY.fields, files: ['src/*.ts'] },
        });
      await beads.create({ id: 'free', priority: 4, fields: { ...READY.fields, files: ['docs/a.md'] } });
      await store.tx('reserve', (db) =>
        reservePaths(db, { project: PROJECT, agent: 'fox', paths: ['src/b.ts'], ids }),
      );
      const { bead, why } = await beads.next({ isExplained: true });
      expect(bead?.id).toBe('free');
      expect(why.skipped).toHaveLength(40);
      expect(why.skipped[0]!.reasons[0]).toMatch(/^src\/\*\.ts is reserved by fox until 20/);
      expect((await beads.next({ agent: 'fox' })).bead?.id).toBe('taken-0');
    });

    it('tries a hint first, and only if it could be next', async () => {
      const beads = beadsOf(await open());
      await beads.create({ id: 'best', priority: 0 });
      await beads.create({ id: 'hinted', priority: 4 });
      await beads.create({ id: 'waits', dependencies: ['best'] });
      expect((await beads.next({ hint: 'hinted' })).bead?.id).toBe('hinted');
      expect((await beads.next({ hint: 'waits' })).bead?.id).toBe('best');
    });
  });

  describe('a claim', () => {
    it('takes what comes next, and is over when a person says so', async () => {
      const store = await open();
      const beads = beadsOf(store);
      await beads.create({ id: 'a' });
      const claimed = await claimNextBead(store, { projectId: PROJECT, worker: 'fox' });
      expect(claimed).toMatchObject({
        id: 'a',
        status: 'in_progress',
        assignee: 'fox',
        claim: { worker: 'fox' },
      });
      const { fence } = claimed!.claim!;
      expect(await claimNextBead(store, { projectId: PROJECT, worker: 'owl' })).toBeNull();
      expect(await store.read((db) => requireClaim(db, PROJECT, { id: 'a', fence }))).toMatchObject({
        id: 'a',
      });
      await beads.update('a', { status: 'open' });
      await expect(store.read((db) => requireClaim(db, PROJECT, { id: 'a', fence }))).rejects.toMatchObject({
        code: 'fenced',
      });
      const again = await claimNextBead(store, { projectId: PROJECT, worker: 'owl' });
      expect(again!.claim!.fence).toBeGreaterThan(fence);
      const release = (number: number) =>
        store.tx('release', async (db) =>
          releaseClaim(db, await lockProject(db, PROJECT), { id: 'a', fence: number }),
        );
      await expect(release(fence)).rejects.toMatchObject({ code: 'fenced' });
      expect(await release(again!.claim!.fence)).toMatchObject({ status: 'open', claim: null });
    });

    it('leaves nothing in memory of a transaction that was undone', async () => {
      const store = await open();
      const beads = beadsOf(store);
      await beads.create({ id: 'a' });
      const undone = store.tx('claim', async (db) => {
        const { claimNext } = await import('../../src/loops/beads/graph/claim.ts');
        await claimNext(
          { store, db, lock: await lockProject(db, PROJECT) },
          { projectId: PROJECT, worker: 'fox' },
        );
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      expect((await beads.next()).bead?.id).toBe('a');
      await beads.create({ id: 'b', priority: 0 });
      expect((await beads.next()).bead?.id).toBe('b');
    });
  });

  it('bounces what an epic cannot work on, when it is asked to', async () => {
    const store = await open();
    const beads = beadsOf(store);
    await beads.create({ id: 'e', type: 'epic' });
    await beads.create({ id: 'whole', epic: 'e' });
    await beads.create({ id: 'bare', epic: 'e', fields: {} });
    await beads.update('bare', { status: 'open' });
    const bounced = await store.tx('bounce', async (db) =>
      bounceIncomplete(db, await lockProject(db, PROJECT), { epic: 'e', ids }),
    );
    expect(bounced.map(({ id, status }) => [id, status])).toEqual([['bare', 'blocked']]);
    const all = await store.read((db) => listBeads(db, PROJECT, { label: 'needs-planning' }));
    expect(all.map(({ id }) => id)).toEqual(['bare']);
  });
});
