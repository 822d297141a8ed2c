/** Plays one case through a whole Pulse and says how it ended. */
import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { writeTrustedConfig } from '../../test/fakes/trusted-config.ts';
import type { Project } from './project.ts';
import { numbered, openScene, type Scene } from './scene.ts';

export type Loop = 'goal' | 'workflow' | 'beads';

export interface Play {
  project: Project;
  loop: Loop;
  /** The project as the session finds it is right. */
  isFixed: boolean;
  /** One for each claim. */
  edits: readonly string[];
  /** Checks that the agent declares to have changed. */
  declared?: readonly string[];
  policy?: 'allow';
}

export interface Ended {
  /** As the session says: `complete` of a workflow is its only pulse's acceptance. */
  status: string;
  stopReason: string | null;
  trust: string | null;
  reasons: string[];
  /** What Pulse said of changed checks. */
  changes: string[];
  flaky: string[];
  replayed: boolean | null;
  /** Pulse ran the checks of a claim: without that, nothing was judged. */
  isJudged: boolean;
  seconds: number;
}

const REFUSED = 'refused';

/** Ends a session whose agent is asked again: its claim was refused. */
function watchRefusal({ folder }: Scene): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const watcher = watch(folder, (_, name) => {
    if (name === REFUSED) controller.abort();
  });
  return { signal: controller.signal, [Symbol.dispose]: () => watcher.close() };
}

const AGENT_FAILED = 'echo "AGENT FAILED at line $LINENO"';

export async function playCase(play: Play): Promise<Ended> {
  const began = performance.now();
  using scene = openScene(play.project, { isFixed: play.isFixed });
  await using pulse = await createPulse({ environment: scene.environment });
  const id = await STARTS[play.loop](pulse, scene, play);
  const limit = AbortSignal.timeout(240_000);
  using refused = watchRefusal(scene);
  await pulse.run(id, AbortSignal.any([limit, refused.signal]));
  const row = await pulse.session(id);
  const { judgement } = await pulse.showChecks(id).catch(() => ({ judgement: null }));
  const ended: Ended = {
    status: row.status,
    stopReason: row.stop_reason,
    trust: row.trust ?? null,
    reasons: judgement?.reasons ?? [],
    changes: (judgement?.changes ?? []).map(
      ({ path, part, what }) => `${what} ${path}${part ? ` (${part})` : ''}`,
    ),
    flaky: judgement?.flaky ?? [],
    replayed: judgement?.replay?.passed ?? null,
    isJudged: judgement !== null,
    seconds: 0,
  };
  if (play.loop === 'workflow') await seeWorkflow(pulse, { id, ended });
  if (play.loop !== 'goal') readReplies(scene, ended);
  if (limit.aborted) ended.status = 'hangs';
  if (ended.reasons.length === 0) {
    ended.reasons = await lastWords(pulse, id);
    ended.isJudged ||= ended.reasons.some((text) => text.startsWith('iteration.verified'));
  }
  ended.seconds = Math.round((performance.now() - began) / 100) / 10;
  return ended;
}

async function startGoal(pulse: Pulse, { folder, repository }: Scene, play: Play): Promise<string> {
  const declared = (play.declared ?? []).map(
    (path) => `echo '<checks_changed>${path}: the interface is another</checks_changed>'`,
  );
  const script = [
    'cat > /dev/null',
    'set -e',
    `trap '${AGENT_FAILED}' ERR`,
    numbered(play.edits),
    ...declared,
    'echo Done.',
    'echo "<signal>COMPLETE</signal>"',
  ];
  writeFileSync(join(folder, 'agent.sh'), script.join('\n'));
  const { session } = await pulse.start({
    goal: 'Make the discount right.',
    path: repository,
    createdBy: 'cli',
    command: `bash '${join(folder, 'agent.sh')}'`,
    verify: [play.project.command],
    setup: play.project.setup,
    maxIterations: play.edits.length,
    ...(play.policy ? { checks: play.policy } : {}),
  });
  return session.id;
}

const CLAIM = join(import.meta.dirname, 'claim.mjs');

/** The command of an agent that makes each edit and claims to be done. */
function writeClaimer({ folder }: Scene, play: Play, tool: 'pulse_done' | 'bead_done'): string {
  const declared = (play.declared ?? []).map((path) => ({ path, reason: 'the interface is another' }));
  const claims = play.edits.map(
    (edit, index) =>
      `${edit}\nnode '${CLAIM}' '${folder}/done-${index + 1}.json' '${JSON.stringify(declared)}' ${tool}`,
  );
  // It claims in its first run alone: the others would only cost time. Of a bead, the end of a run is a claim.
  const end = tool === 'pulse_done' ? 'exit 0' : `{ touch '${join(folder, REFUSED)}'; exec sleep 240; }`;
  const once = `test -e '${folder}/done-1.json' && ${end}`;
  const script = ['cat > /dev/null', once, 'set -e', `trap '${AGENT_FAILED}' ERR`, ...claims, 'exit 0'];
  writeFileSync(join(folder, 'agent.sh'), script.join('\n'));
  return `bash '${join(folder, 'agent.sh')}'`;
}

async function startWorkflow(pulse: Pulse, scene: Scene, play: Play): Promise<string> {
  const { session } = await pulse.workflow.start({
    plan: {
      title: 'Prices',
      pulses: [
        {
          id: 'one',
          title: 'The discount',
          description: 'Make the discount right.',
          ...(play.policy ? { changesChecks: true } : {}),
        },
      ],
      verify: [{ command: play.project.command, source: 'Test' }],
      preflight: play.project.setup,
    },
    path: scene.repository,
    command: writeClaimer(scene, play, 'pulse_done'),
    createdBy: 'cli',
    actor: 'bench',
    isApproved: true,
  });
  return session.id;
}

/** One bead, and a worker alone. */
async function startSwarm(pulse: Pulse, scene: Scene, play: Play): Promise<string> {
  const { repository: project_key } = scene;
  const found = { git: '2', worktrees: true, agents: [], sandbox: false };
  await writeOnboarding(project_key, { at: new Date().toISOString(), found });
  const text = JSON.stringify({ setup: play.project.setup });
  await writeTrustedConfig(project_key, { text, environment: scene.environment });
  await pulse.bead.create({ project_key, id: 'shop', title: 'The shop', type: 'epic', feature: 'shop' });
  await pulse.bead.create({
    project_key,
    id: 'one',
    title: 'The discount',
    body: 'Make the discount right.',
    epic: 'shop',
    files: ['**'],
    verify: [{ command: play.project.command }],
    ...(play.policy ? { changesChecks: true } : {}),
  });
  const { session } = await pulse.swarm.start({
    path: project_key,
    epic: 'shop',
    command: writeClaimer(scene, play, 'bead_done'),
    createdBy: 'cli',
    standalone: true,
  });
  return session.id;
}

const STARTS = { goal: startGoal, workflow: startWorkflow, beads: startSwarm };

async function seeWorkflow(pulse: Pulse, { id, ended }: { id: string; ended: Ended }): Promise<void> {
  const { pulses } = await pulse.workflow.rows(id);
  if (ended.stopReason === 'approval_required' && pulses[0]?.status === 'succeeded')
    ended.status = 'complete';
}

/** What its claims were told. */
function readReplies({ folder }: Scene, ended: Ended): void {
  for (const number of [1, 2]) {
    const path = join(folder, `done-${number}.json`);
    if (!existsSync(path)) continue;
    const reasons = readReasons(readFileSync(path, 'utf8'));
    ended.reasons.push(...reasons);
    ended.isJudged ||= reasons.some(Boolean);
  }
}

function readReasons(text: string): string[] {
  try {
    const { ok, reasons, output } = JSON.parse(text) as { ok?: boolean; reasons?: string[]; output?: string };
    return ok ? [] : (reasons ?? [output ?? `no refusal: ${text}`]);
  } catch {
    return [text];
  }
}

/** Of a session that no judgement explains. */
async function lastWords(pulse: Pulse, id: string): Promise<string[]> {
  const { events } = await pulse.export(id);
  const telling = [
    'session.failed',
    'session.blocked',
    'iteration.verified',
    'preflight.failed',
    'agent.text',
    'iteration.settled',
  ];
  return events
    .filter(({ type }) => telling.includes(type))
    .slice(-3)
    .map(({ type, data }) => `${type} ${JSON.stringify(data).slice(0, 700)}`);
}
