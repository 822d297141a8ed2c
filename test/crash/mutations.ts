/** Each guard, and what the code looks like without it. The suite named beside it must then fail. */
export interface Mutation {
  guard: string;
  file: string;
  from: string;
  to: string;
  /** The test file, and the titles of the tests that have to notice. */
  suite: string;
  tests: string;
}

const SIMULATION = 'test/crash/simulation.test.ts';

export const MUTATIONS: readonly Mutation[] = [
  {
    guard: 'the line before the slots of agents',
    file: 'src/store/agent-slots.ts',
    from: 'inUse + ahead < maxAgents',
    to: 'inUse < maxAgents',
    suite: 'test/engine/agent-slots.test.ts',
    tests: 'never gives more than there are',
  },
  {
    guard: 'the token predicate on an attempt’s result',
    file: 'src/store/inbox.ts',
    from: `    .set({ result: toJson(result) })
    .where('id', '=', id)
    .where('token', '=', token)
    .where('status', '=', 'running')`,
    to: `    .set({ result: toJson(result) })
    .where('id', '=', id)`,
    suite: SIMULATION,
    tests: 'survives a stall',
  },
  {
    guard: 'the token predicate on a runner’s events',
    file: 'src/store/events.ts',
    from: `if (token !== undefined) update = update.where('token', '=', token);`,
    to: '',
    suite: SIMULATION,
    tests: 'survives a stall',
  },
  {
    guard: 'the trailer look-up before a commit',
    file: 'src/engine/attempt/attempt.ts',
    from: `    recognise: async () => (attempt.task.result ? workspace.findCommit(attempt) : null),\n`,
    to: '',
    suite: SIMULATION,
    tests: 'survives a death',
  },
  {
    guard: 'the recorded end of a run',
    file: 'src/engine/runner/steps.ts',
    from: `const isRun = live.task.result?.stage === 'ran' && retry === null && isReachable(engine, live);`,
    to: `const isRun = false;`,
    suite: SIMULATION,
    tests: 'runs an agent again only if',
  },
  {
    guard: 'that uncommitted work is finished on its own host only',
    file: 'src/engine/runner/steps.ts',
    from: ` && isReachable(engine, live);`,
    to: ';',
    suite: SIMULATION,
    tests: 'survives a stall',
  },
  {
    guard: 'the session’s lease',
    file: 'src/engine/runner/session-lease.ts',
    from: `  if (!(await isFree(engine, { sessionId, seen, signal }))) return null;\n`,
    to: '',
    suite: SIMULATION,
    tests: 'has one runner',
  },
  {
    guard: 'the question whether a COMMIT without an answer was kept',
    file: 'src/store/patient.ts',
    from: `          if (isKept) return error.result as Awaited<ReturnType<typeof work>>;\n`,
    to: '',
    suite: 'test/crash/absence-simulation.test.ts',
    tests: 'for 20 s',
  },
  {
    guard: 'the patience with a store that is away',
    file: 'src/store/patient.ts',
    from: `if (!isStoreAway(error) || error instanceof CommitUnknownError) throw error;`,
    to: `if (isStoreAway(error)) throw error;`,
    suite: 'test/crash/absence-simulation.test.ts',
    tests: 'for 20 s',
  },
  {
    guard: 'the two heartbeats that a living holder gets to speak up',
    file: 'src/engine/runner/session-lease.ts',
    from: `return seen.isOver && staysOver(engine, { sessionId, seen, signal });`,
    to: `void staysOver;\n  return seen.isOver;`,
    suite: 'test/engine/session-lease.test.ts',
    tests: 'speaks up',
  },
  {
    guard: 'the end of a holder whose lease is over',
    file: 'src/engine/runner/eviction.ts',
    from: `  if (owners(holder) === 'alive') await evict(holder);`,
    to: '  void [owners, evict];',
    suite: SIMULATION,
    tests: 'survives a stall',
  },
  {
    guard: 'the compare-and-swap of the base at review',
    file: 'src/git/merge.ts',
    from: `\`update \${ref} \${to} \${from}\\n\``,
    to: `\`update \${ref} \${to}\\n\``,
    suite: 'test/git/merge.test.ts',
    tests: 'moves the base meanwhile',
  },
  {
    guard: 'the last look at who has the base checked out',
    file: 'src/git/merge.ts',
    from: `  if ((await findCheckout(git, root, ref)) !== checkout) {`,
    to: '  if (root === ref) {',
    suite: 'test/git/merge.test.ts',
    tests: 'meanwhile',
  },
  {
    guard: 'the compare-and-swap of the branch',
    file: 'src/git/refs.ts',
    from: `\`update \${ref} \${to} \${from ?? '0'.repeat(to.length)}\\n\``,
    to: `\`update \${ref} \${to}\\n\``,
    suite: 'test/git/refs.test.ts',
    tests: '',
  },
  {
    guard: 'the unique index on the live iteration',
    file: 'src/store/migrations/001-sessions.ts',
    from: `CREATE UNIQUE INDEX one_live_iteration`,
    to: `CREATE INDEX one_live_iteration`,
    suite: 'test/store',
    tests: 'live iteration',
  },
  {
    guard: 'the sweep before an interrupted attempt is done again',
    file: 'src/engine/workspace/prepare.ts',
    from: `  if (isInterrupted) await endEarlierRuns(attempt);\n`,
    to: '',
    suite: 'test/crash/sweep.test.ts',
    tests: '',
  },
  {
    guard: 'the reset of an interrupted worktree',
    file: 'src/engine/workspace/prepare.ts',
    from: `if (isBegun || isInterrupted || head !== startSha)`,
    to: `if (isBegun || head !== startSha)`,
    suite: 'test/crash/sweep.test.ts',
    tests: '',
  },
  {
    guard: 'the run’s name on the cgroup that a shell waited in',
    file: 'src/process/prewarmed-shell.ts',
    from: `  if (!labelCgroup(cgroup, program.runId)) return null;\n`,
    to: '  void labelCgroup;\n',
    suite: 'test/process/prewarmed-shell.test.ts',
    tests: 'found by the run|whoever comes after a crash',
  },
  {
    guard: 'the look whether the waiting shell is alive',
    file: 'src/process/prewarmed-shell.ts',
    from: ` || !isAlive(waiting.shell)`,
    to: '',
    suite: 'test/process/prewarmed-shell.test.ts',
    tests: 'is not taken when it was killed',
  },
  {
    guard: 'the lifeline of a cgroup in which a shell waits',
    file: 'src/process/prewarmed-shell.ts',
    from: `  const lifeline = holdLifeline({ runId: null, cgroup });`,
    to: '  const lifeline = holdLifeline({ runId: null, cgroup: null });',
    suite: 'test/process/prewarmed-shell.test.ts',
    tests: 'dies with a Pulse that is killed',
  },
  {
    guard: 'that a call to a commander elsewhere is recorded after its answer',
    file: 'src/loops/research/commander/deliver.ts',
    from: `await store.tx('deliver', (db) => beginCall(db, call, token), scope);`,
    to: `await store.tx('deliver', (db) => endCall(db, call, { status: 'delivered', note: null }), scope);`,
    suite: 'test/crash/research-simulation.test.ts',
    tests: 'wherever its runner fails: die',
  },
  {
    guard: 'the token predicate on a courier’s call',
    file: 'src/loops/research/commander/outbox.ts',
    from: `if (holder?.token !== token) {`,
    to: `if (holder?.token !== token && token < 0) {`,
    suite: 'test/engine/courier.test.ts',
    tests: 'of a runner that was replaced',
  },
  {
    guard: 'that a branch which somebody has checked out is not moved',
    file: 'src/git/session-head.ts',
    from: `  const holder = await findCheckout(git, root, ref);
  if (holder === null) {
    const moved`,
    to: `  const holder = await findCheckout(git, root, ref);
  if (holder !== '') {
    const moved`,
    suite: 'test/engine/session-branch.test.ts',
    tests: 'looks at the branch is not in the way',
  },
  {
    guard: 'that what a person has committed on the branch comes first',
    file: 'src/git/session-head.ts',
    from: `return { is: 'ahead', at };`,
    to: `await change(git, root, '');`,
    suite: 'test/engine/session-branch.test.ts',
    tests: 'commits on the branch finds the work on top of it',
  },
  {
    guard: 'that a worktree which its agent broke is not committed',
    file: 'src/engine/attempt/attempt.ts',
    from: `if (!run || fault === null) return result;`,
    to: `if (!run || fault !== '') return result;`,
    suite: 'test/engine/broken-worktree.test.ts',
    tests: 'deletes its .git is a crashed attempt',
  },
];
