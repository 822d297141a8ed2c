/** Runs that share a budget are ended while they stream, to within one call each (docs/protocol/sessions.md, Budgets). */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { openStore } from '../../src/store/open.ts';
import { getSession, updateSession } from '../../src/store/sessions.ts';
import { createScratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';

const CALL_USD = 0.1;
const CALL_TOKENS = 100;
/** As a model would: a call, then some time until the next. Each could use up the whole budget twice. */
const AGENT = `cat > /dev/null; for call in $(seq 40); do pulse tool report_usage '${JSON.stringify({
  costUsd: CALL_USD,
  inputTokens: CALL_TOKENS,
})}' > /dev/null; sleep 0.5; done; echo "<signal>COMPLETE</signal>"`;
const CHILDREN = 3;

describe.each(['SQLite', 'PostgreSQL'])('one budget for several runs on %s', { timeout: 120_000 }, (name) => {
  let postgres: SharedPostgres | null = null;
  beforeAll(async () => {
    postgres = name === 'PostgreSQL' ? await sharePostgres() : null;
  }, 60_000);
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  /** A parent that only has the budget, and children that draw on it. */
  async function runChildren(budget: { budgetUsd?: number; budgetTokens?: number }) {
    const scratch = createScratch();
    const url = await postgres?.createDatabase();
    const environment = { ...scratch.environment, PULSE_DATABASE_URL: url };
    const pulse = await createPulse({ environment });
    const { store } = await openStore({ url, path: pulse.home.database });
    onTestFinished(async () => {
      await store.close();
      await pulse[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    });
    const start = async (input: object) => {
      const asked = { goal: 'g', path: scratch.repository, createdBy: 'cli' as const, command: AGENT };
      return (await pulse.start({ ...asked, ...input })).session.id;
    };
    const parent = await start({ budgetUsd: null, ...budget });
    const children: string[] = [];
    for (let number = 0; number < CHILDREN; number++) {
      const child = await start({ budgetUsd: null });
      await store.tx('test', (db) => updateSession(db, child, { parent_session_id: parent }));
      children.push(child);
    }
    await Promise.all(children.map((id) => pulse.run(id, new AbortController().signal)));
    const read = (id: string) => store.read((db) => getSession(db, id));
    return { parent: await read(parent), children: await Promise.all(children.map(read)) };
  }

  it('ends all of them at the cost, and nothing stays set aside', async () => {
    const { parent, children } = await runChildren({ budgetUsd: 2 });
    for (const child of children) {
      expect(child).toMatchObject({ status: 'blocked', stop_reason: 'budget_cost' });
      expect(child.spent_usd).toBeGreaterThan(CALL_USD);
    }
    expect(parent.spent_usd).toBeGreaterThan(2 - CALL_USD);
    expect(parent.spent_usd).toBeLessThanOrEqual(2 + CHILDREN * CALL_USD + 1e-9);
    expect(parent.spent_usd).toBeCloseTo(
      children.reduce((sum, child) => sum + child.spent_usd, 0),
      6,
    );
    expect(parent.reserved_usd).toBeCloseTo(0, 6);
  });

  it('ends all of them at the tokens', async () => {
    const { parent, children } = await runChildren({ budgetTokens: 1_500 });
    for (const child of children) expect(child).toMatchObject({ stop_reason: 'budget_tokens' });
    expect(parent.total_tokens_used).toBeGreaterThan(1_500 - CALL_TOKENS);
    expect(parent.total_tokens_used).toBeLessThanOrEqual(1_500 + CHILDREN * CALL_TOKENS);
  });
});
