/** Which test files belong to which lane. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Start a dozen or more processes at once, so nothing with a deadline may run beside them. */
export const CROWDED = [
  'test/e2e/many-processes.test.ts',
  'test/beads/many-processes.test.ts',
  'test/crash/fleet-chaos.test.ts',
];

/** Need the agents themselves: `npm run test:agents` installs and runs them. */
export const REAL_AGENTS = 'test/real-agents/**';

/**
 * Stories with real programs or whole sessions, of which `npm test` tells an eighth; of a file with few of them perhaps
 * none. What they tell is tested below them, too.
 */
export const STORIES = [
  'test/agents/{acp/acp,demo/demo,host,native/native,replay/replay}.test.ts',
  'test/api/{dashboard,events,idempotency,jobs,machine,page-actions,postgres,research,sandbox}.test.ts',
  'test/api/{security,serve,sessions,workflows}.test.ts',
  'test/beads/{asked-checks,commands,context,coordination-events,dead-holder,earlier-checks,edits}.test.ts',
  'test/beads/{held-files,mail-into-run,nested-epics,plan,prepared,red,shims,swarm}.test.ts',
  'test/beads/{unknown-decision,worker}.test.ts',
  'test/context/{bounds,commands,embedder,http,import,import-parents}.test.ts',
  'test/coordination/{commands,mail,processes,reservations}.test.ts',
  'test/crash/{kill-after,outage,postgres-faults}.test.ts',
  'test/e2e/!(installed|many-processes|secrets).test.ts',
  'test/engine/{agent-slots,breaker,broken-worktree,closing,context-briefs,context-strategies}.test.ts',
  'test/engine/{counted-cost,enclosed-git,fleet,hanging-git,measuring-checkout,person-was-quicker,phases}.test.ts',
  'test/engine/{sandbox,session,session-branch,session-git,session-stops,shared-budget}.test.ts',
  'test/engine/{submodules-and-lfs,worktree-needs}.test.ts',
  'test/loops/countdown.test.ts',
  'test/mcp/{eras,official,research,sandbox,stdio,workflows}.test.ts',
  'test/notify/{accounts,bad-days,buttons,chat,decisions,gateway,kept,killed-courier,killed-serve}.test.ts',
  'test/notify/{moved,old-words,outbox,prompts,refusals,slack,text-messages,threads}.test.ts',
  'test/operations/{clean,discard,follow,merge,note,resume,retention,schedule,start,verify}.test.ts',
  'test/operations/watch-pull-requests.test.ts',
  'test/referee/{canary,goal-claims,held-out,pulse-claims,second-opinion}.test.ts',
  'test/referee/{output/properties,proof/push,proof/store,proof/verify}.test.ts',
  'test/research-loop/{cheats,commander,commander-elsewhere,crashes,files,finish,guidance}.test.ts',
  'test/research-loop/{noise,parallel,prepared,resumed,session,slot,steering}.test.ts',
  'test/store/{postgres-limits,sqlite-processes}.test.ts',
  'test/web/{actions,appearance,beads,commands,decisions,evidence,graph,inert,loops,network,pages}.test.ts',
  'test/web/{pictures,plans,research,review,sessions,settings,speed,timeline,while-open}.test.ts',
  'test/workflow/{branches,completion,endings,kickoff,limits,native,plan-edits,resume,review,session,stops}.test.ts',
];

/** Start many processes or wait for clocks of their own: each takes more than some four seconds, too long for the inner loop. */
export const SLOW = [
  ...STORIES,
  'test/crash/**',
  'test/e2e/**',
  'test/api/{fuzz,live,login,rest-doc,texts}.test.ts',
  'test/beads/{exchange,graph,graph-properties,many-processes}.test.ts',
  'test/context/{code-index/quality,search,slice}.test.ts',
  'test/domain/{redact-properties,signal-properties}.test.ts',
  'test/git/{commit,fast-forward-checkout,gc-submodules,unruly-agent}.test.ts',
  'test/lanes/run-lane.test.ts',
  'test/notify/{burst,quiet}.test.ts',
  'test/process/supervise.test.ts',
  'test/referee/{cheats,output/reports,room/room}.test.ts',
  'test/store/{postgres-contract,sqlite-contract}.test.ts',
  'test/tools/guard/call-guard.test.ts',
  'test/tools/work/edit-tools.test.ts',
  'test/{documents,packaging,typescript-doc}.test.ts',
];

/** Draws cases itself, or by a suite that does. */
const DRAWS =
  /import \{[^}]*\b(IS_ALL|IS_MORE|draw|drawFor|runsOf|seedsOf|surviveSuite|kill(Suite|Loops|Interventions|Review))\b[^}]*\} from '\.{1,2}\//;

/** The files that leave cases to the lane `rest`. */
export function listDrawn(): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).filter(
    (file) => !file.startsWith('test/lanes/'),
  );
  return files.filter((file) => DRAWS.test(readFileSync(join(ROOT, file), 'utf8'))).toSorted();
}
