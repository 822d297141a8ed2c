/** As many agents at once on a host as `maxAgents` says; the rest wait, first come first served. */
import { existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/domain/redact.ts';
import { claimAttempt } from '../../src/engine/attempt/claim.ts';
import { hostOwnerState } from '../../src/engine/runner/state.ts';
import { viewOverview } from '../../src/operations/overview.ts';
import { listWaiting } from '../../src/store/agent-slots.ts';
import { readEvents } from '../../src/store/events.ts';
import { closeTask, findTask, requeueTask, type Task } from '../../src/store/inbox.ts';
import { readSessionLease, takeSessionLease } from '../../src/store/leases.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { dispatchForTest } from '../crash/fixtures/dispatch.ts';
import { admit } from '../fakes/admit.ts';
import { fakeLoops } from '../fakes/loops.ts';
import { COMPLETE, makeScene, until } from './scene.ts';

const SESSIONS = 6;
const LEASE_MS = 600_000;

interface Member {
  id: string;
  owner: string;
  task: Task | null;
}

/** Sessions with an attempt each, driven by owners of which some are dead. */
async function makeHost(store: Store, { maxAgents, prefix }: { maxAgents: number; prefix: string }) {
  const dead = new Set<string>();
  const host = {
    name: prefix,
    owners: (owner: string) => (dead.has(owner) ? ('dead' as const) : ('alive' as const)),
  };
  const works = fakeLoops().works;
  const members: Member[] = [];
  for (let index = 0; index < SESSIONS; index++) {
    const id = `ses_00000000-0000-7000-8000-${prefix}${String(index).padStart(4, '0')}`;
    await admit(store, { id, branch_name: `pulse/${prefix}-${index}` });
    await dispatchForTest(store, id);
    members.push({ id, owner: '', task: null });
    await drive(members[index]!, `${id}.0`);
  }

  async function drive(member: Member, owner: string): Promise<void> {
    member.owner = owner;
    await store.tx('lease', async (db) => {
      const seen = await readSessionLease(db, member.id);
      await takeSessionLease(db, member.id, { owner, leaseMs: LEASE_MS, seen, isGone: true });
    });
  }

  return {
    members,
    /** Whether it has its slot now. */
    async ask(member: Member): Promise<boolean> {
      // A place in line is a time of the store, in milliseconds.
      await delay(2);
      const task = await store.tx('claim', (db) =>
        claimAttempt(db, {
          ...{ sessionId: member.id, owner: member.owner, leaseMs: LEASE_MS },
          ...{ works, host, maxAgents },
        }),
      );
      member.task = task;
      return task !== null;
    },
    async finish({ task }: Member): Promise<void> {
      await store.tx('close', (db) => closeTask(db, task!.id, 'complete'));
    },
    die: ({ owner }: Member) => void dead.add(owner),
    /** The next runner takes the session over, and what its daemon left. */
    async revive(member: Member): Promise<void> {
      await drive(member, `${member.id}.${dead.size}`);
      const { task } = member;
      if (!task) return;
      member.task = null;
      const again = { attempt: 2, content: 'again', spec: task.spec, delayMs: 0, result: null };
      await store.tx('requeue', (db) => requeueTask(db, task.id, again));
    },
    waiting: () => store.read((db) => listWaiting(db, host)),
    events: (member: Member) => store.read((db) => readEvents(db, member.id, { after: 0 })),
  };
}

type Host = Awaited<ReturnType<typeof makeHost>>;
type Step = { do: 'ask' | 'finish' | 'die' | 'revive'; who: number };
const STEP: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('ask', 'ask', 'ask', 'finish', 'die', 'revive'),
  who: fc.nat(SESSIONS - 1),
});

/** What is said of it: who has a slot, who is in line, who is dead. */
interface Model {
  held: Set<number>;
  line: number[];
  dead: Set<number>;
  over: Set<number>;
}

async function perform(host: Host, model: Model, { step, most }: { step: Step; most: number }) {
  const { who } = step;
  const { held, line, dead, over } = model;
  const member = host.members[who]!;
  if (over.has(who)) return;
  if (step.do === 'ask' && !held.has(who) && !dead.has(who)) {
    const living = line.filter((other) => !dead.has(other));
    const place = living.indexOf(who);
    const inUse = [...held].filter((other) => !dead.has(other)).length;
    const isFree = inUse + (place === -1 ? living.length : place) < most;
    expect(await host.ask(member), `${who} asks, ${inUse} in use, in line ${living}`).toBe(isFree);
    if (isFree) {
      held.add(who);
      model.line = line.filter((other) => other !== who);
    } else if (!line.includes(who)) line.push(who);
  } else if (step.do === 'finish' && held.has(who) && !dead.has(who)) {
    await host.finish(member);
    held.delete(who);
    over.add(who);
  } else if (step.do === 'die' && !dead.has(who)) {
    host.die(member);
    dead.add(who);
  } else if (step.do === 'revive' && dead.has(who)) {
    await host.revive(member);
    dead.delete(who);
    held.delete(who);
  }
}

onBothStores((open) => {
  it('never gives more than there are, in the order in which they asked, whoever dies', async () => {
    const store = await open();
    let count = 0;
    const steps = fc.array(STEP, { minLength: 10, maxLength: 30 });
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), steps, async (most, given) => {
      const prefix = `${String(++count).padStart(7, '0')}a`;
      const host = await makeHost(store, { maxAgents: most, prefix });
      const model: Model = { held: new Set(), line: [], dead: new Set(), over: new Set() };
      for (const step of given) await perform(host, model, { step, most });
      // Then all come to their end.
      for (const who of model.dead) await perform(host, model, { step: { do: 'revive', who }, most });
      for (let round = 0; round < SESSIONS * 2 && model.over.size < SESSIONS; round++) {
        for (let who = 0; who < SESSIONS; who++) {
          await perform(host, model, { step: { do: 'finish', who }, most });
          await perform(host, model, { step: { do: 'ask', who }, most });
        }
      }
      expect(model.over.size).toBe(SESSIONS);
      expect(await host.waiting()).toEqual([]);
    });
    await fc.assert(property, { numRuns: 6 });
  }, 60_000);

  it('gives one slot to one of many that ask in the same moment', async () => {
    const store = await open();
    const host = await makeHost(store, { maxAgents: 2, prefix: '0000000b' });
    const given = await Promise.all(host.members.map((member) => host.ask(member)));
    expect(given.filter(Boolean)).toHaveLength(2);
    expect(await host.waiting()).toHaveLength(SESSIONS - 2);
  });

  it('tells the wait once, with how many are at work', async () => {
    const store = await open();
    const host = await makeHost(store, { maxAgents: 1, prefix: '0000000c' });
    const [first, second] = host.members as [Member, Member];
    await host.ask(first);
    await host.ask(second);
    await host.ask(second);
    const told = (await host.events(second)).filter(({ type }) => type === 'agent.queued');
    expect(told.map(({ data }) => data)).toEqual([{ agent: 'command', inUse: 1, maxAgents: 1, ahead: 0 }]);
    const [place] = await host.waiting();
    const task = await store.read((db) => findTask(db, place!.id));
    // Nobody has seen its token, and it has not begun.
    expect(task).toMatchObject({ status: 'pending', token: 0, lease_owner: null });
  });
});

describe('a session that waits for a slot', () => {
  /** The first session's agent is at work, and nothing but a ring would wake the second for a long time. */
  async function makeFullHost() {
    const scene = await makeScene({
      environment: { PULSE_MAX_AGENTS: '1' },
      timing: { pollMs: 60_000, quietPollMs: 60_000 },
    });
    const { folder } = scene;
    const first = await scene.start(
      `touch ${folder}/held; until [ -e ${folder}/go ]; do sleep 0.05; done; ${COMPLETE}`,
    );
    const second = await scene.start(COMPLETE);
    const running = scene.run(first);
    await until(() => existsSync(join(folder, 'held')));
    const waiting = scene.run(second);
    await scene.seen(second, 'agent.queued');
    const letGo = () => writeFileSync(join(folder, 'go'), '');
    return { ...scene, first, second, running, waiting, letGo };
  }

  it('says so, begins as soon as one is free, and the wait is no running time', async () => {
    const { pulse, store, first, second, running, waiting, letGo } = await makeFullHost();
    expect((await pulse.show(second.id)).doing?.text).toBe('waits for a free agent slot (1 of 1 in use)');
    const reading = { engine: { store, owners: hostOwnerState }, redactor: createRedactor([]) };
    const { groups } = await viewOverview(reading);
    expect(groups.waiting.map(({ id, doing }) => [id, doing?.text])).toEqual([
      [second.id, 'waits for a free agent slot (1 of 1 in use)'],
    ]);
    expect(groups.running.map(({ id }) => id)).toEqual([first.id]);
    await delay(500);
    letGo();
    expect((await running).status).toBe('complete');
    const ended = await waiting;
    expect(ended.status).toBe('complete');
    expect(ended.running_ms).toBeLessThan(500);
  });

  it('is paused at once, and takes a new place when it is resumed', async () => {
    const { pulse, store, first, second, running, waiting, letGo } = await makeFullHost();
    await pulse.pause(second.id);
    expect((await waiting).status).toBe('paused');
    expect((await pulse.show(first.id)).session.status).toBe('running');
    const host = { name: hostname(), owners: () => 'alive' as const };
    expect(await store.read((db) => listWaiting(db, host))).toEqual([]);
    await pulse.resume(second.id);
    letGo();
    await running;
    await pulse.run(second.id, new AbortController().signal);
    expect((await pulse.show(second.id)).session.status).toBe('complete');
  });

  it('is aborted at once', async () => {
    const { pulse, second, running, waiting, letGo } = await makeFullHost();
    await pulse.abort(second.id);
    expect((await waiting).status).toBe('aborted');
    letGo();
    expect((await running).status).toBe('complete');
  });
});
