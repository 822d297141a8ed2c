/** What an iteration costs in durable transactions and git processes (ARCHITECTURE.md). */
import { describe, expect, it } from 'vitest';
import { COMPLETE, CONTINUE, makeScene } from './scene.ts';

const MAX_TRANSACTIONS = 6;
const MAX_GIT = 5;
/** Once a session: the room, and the checks on the base. */
const BASE = { transactions: 2, git: 5 };
/** A claim: the room on its tree, twice where a check fails, what it changed of the checks, and a record for each check. */
const CLAIM = { transactions: 1, git: 9 };
/** Their number depends on how long a run takes and how much it says, not on the engine. */
const BY_TIME = ['agent-events', 'heartbeat'];

/** Everything from an iteration's dispatch to its settling, iteration by iteration. */
async function costs(script: string, verify: string[] = []) {
  const iterations: { transactions: string[]; git: string[] }[] = [];
  let isOpen = false;
  const scene = await makeScene({
    trace(point) {
      if (point === 'dispatch:before') {
        iterations.push({ transactions: [], git: [] });
        isOpen = true;
      }
      if (point === 'settle:after') isOpen = false;
    },
    onCommit(label) {
      if (isOpen && !BY_TIME.includes(label)) iterations.at(-1)?.transactions.push(label);
    },
    onGit(args, what) {
      if (isOpen && what === 'process')
        iterations.at(-1)?.git.push(
          args
            .filter((arg) => !arg.startsWith('-'))
            .slice(0, 2)
            .join(' '),
        );
    },
  });
  const session = await scene.startAndRun(script, { verify });
  return { session, iterations };
}

function expectCheap(
  iterations: Awaited<ReturnType<typeof costs>>['iterations'],
  { isJudged = false }: { isJudged?: boolean } = {},
): void {
  expect(iterations.length).toBeGreaterThan(1);
  for (const [index, { transactions, git }] of iterations.entries()) {
    const told = `iteration ${index + 1}: ${transactions.length} transactions (${transactions.join(', ')}), ${git.length} git (${git.join('; ')})`;
    const extra = isJudged ? [CLAIM, ...(index === 0 ? [BASE] : [])] : [];
    const most = (what: 'transactions' | 'git') => extra.reduce((sum, each) => sum + each[what], 0);
    expect(transactions.length, told).toBeLessThanOrEqual(MAX_TRANSACTIONS + most('transactions'));
    expect(git.length, told).toBeLessThanOrEqual(MAX_GIT + most('git'));
    expect(transactions.length, told).toBeGreaterThan(0);
  }
}

describe('an iteration takes at most six transactions and five git processes', () => {
  it('with a change', async () => {
    const { session, iterations } = await costs(
      `echo "$PULSE_ITERATION" >> log.txt; [ "$PULSE_ITERATION" = 4 ] && { ${COMPLETE}; } || { ${CONTINUE}; }`,
    );
    expect(session).toMatchObject({ status: 'complete', total_commits: 4 });
    expectCheap(iterations);
  });

  it('without a change', async () => {
    const { session, iterations } = await costs(
      `[ "$PULSE_ITERATION" = 4 ] && { ${COMPLETE}; } || { ${CONTINUE}; }`,
    );
    expect(session).toMatchObject({ status: 'complete', total_commits: 0 });
    expectCheap(iterations);
  });

  it('with a change and a verified COMPLETE', async () => {
    const { session, iterations } = await costs(
      `echo "$PULSE_ITERATION" >> log.txt; [ "$PULSE_ITERATION" = 3 ] && { ${COMPLETE}; } || { ${CONTINUE}; }`,
      ['test -s log.txt'],
    );
    expect(session).toMatchObject({ status: 'complete', total_commits: 3 });
    expectCheap(iterations, { isJudged: true });
  });

  it('with a COMPLETE that is rejected', async () => {
    const { session, iterations } = await costs(`echo "$PULSE_ITERATION" >> log.txt; ${COMPLETE}`, [
      'test "$(wc -l < log.txt)" -ge 3',
    ]);
    expect(session).toMatchObject({ status: 'complete', total_commits: 3 });
    expectCheap(iterations, { isJudged: true });
  });

  it('with an agent that commits by itself', async () => {
    const { session, iterations } = await costs(
      `echo "$PULSE_ITERATION" >> log.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm own; [ "$PULSE_ITERATION" = 3 ] && { ${COMPLETE}; } || { ${CONTINUE}; }`,
    );
    expect(session).toMatchObject({ status: 'complete', total_commits: 3 });
    expectCheap(iterations);
  });
});
