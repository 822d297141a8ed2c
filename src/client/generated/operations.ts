/** Made by packaging/client.ts from the table of operations: change that, and run `npm run generate`. */
import type { Call } from '../client.ts';
import type { Baseline, Bead, BeadClose, BeadCreate, BeadImport, BeadPlan, BeadScope, BeadUpdate, Card, Check, Clean, CommanderMessage, CommanderTask, ContextImport, Device, Diff, DoctorGc, Event, Experiment, Follow, Iteration, IterationHead, Job, Judgement, ListedMailMessage, MailAck, MailMessage, MailRegister, MailReply, MailSend, Merge, Note, Notification, PairChat, Pause, Preflight, Pulse, Reject, Release, Research, ResearchFinish, ResearchStart, Reservation, Reserve, Resume, ReviewComment, Schedule, SchedulePlan, Session, Slice, Start, Swarm, SwarmBead, SwarmReassign, SwarmStart, SwarmWorker, TestNotifications, Turn, Verification, VerifyCommits, WholeTurn, Workflow, WorkflowApprove, WorkflowExtension, WorkflowKeepDraft, WorkflowReview, WorkflowStart } from './schemas.ts';

/** One method for each operation that is on HTTP, by the names of the table. */
export interface Operations {
  /** Start a session that works towards a goal. */
  start(input: Start, call?: Call): Promise<{ sessionId: string; session: Session }>;
  /** Show a session and its iterations. */
  show(input: { id: string }, call?: Call): Promise<{ session: Session; iterations: Iteration[]; waiting: { agent: string; failureClass: string; since: string | null; until: string; patienceMs: number | null } | null; doing: { text: string; since: string; lastSign: string } | null; judgement: { verdict: "accepted" | "rejected" | "ask"; trust: "verified" | "verified_checks_changed"; reasons: string[]; changes: { path: string; part: string | null; what: "added" | "changed" | "removed" }[]; declared: { path: string; reason: string }[]; base?: { commit: string | null; tests: Record<string, { ran: number; passed: number; failed: number; skipped: number }> }; replay: { tree: string; passed: boolean; commands: { command: string; exit: number | null; passed: boolean; outputHash: string }[] } | null; allowedBy?: "plan" | "policy"; heldOut?: ({ holds: boolean; tests: { ran: number; passed: number; failed: number; skipped: number } | null })[]; opinion?: { agent: string; model: string | null; accept: boolean; reasons: string[]; claims: { text: string; verdict: "true" | "false" | "unproven"; where: string | null }[] }; notes: { path: string; line: number; what: string; text: string }[]; flaky: string[]; iteration: number; attempt: number; decidedBy: string | null; decidedAt: string | null; proof: string | null } | null; head: string | null; issue: { number: number; title: string; url: string; comment: boolean } | null; from: string | null; request: "pause" | "stop" | null; unreadNotes: number; unresolved: { pulse: string; issue: string; reason: string }[]; kept: { ref: string; at: string | null; command: string }[] }>;
  /** List sessions, newest first. */
  list(input?: { status?: "pending" | "running" | "complete" | "blocked" | "failed" | "paused" | "aborted"; limit?: number; cursor?: string }, call?: Call): Promise<{ sessions: Session[]; nextCursor: string | null }>;
  /** Show one iteration with its evidence. */
  showIteration(input: { id: string; n: number }, call?: Call): Promise<{ iteration: Iteration; verifications: Verification[] }>;
  /** Show the evidence: what Pulse itself ran, oldest first. */
  showVerifications(input: { id: string }, call?: Call): Promise<{ verifications: Verification[] }>;
  /** Show the evidence with what the referee said of each claim, oldest first. */
  showEvidence(input: { id: string }, call?: Call): Promise<{ trust: "verified" | "verified_checks_changed" | "unverified" | "stale" | "false" | null; verifications: Verification[]; judgements: Judgement[] }>;
  /** Run the verification again, beside the request. */
  askVerification(input: { id: string }, call?: Call): Promise<{ jobId: string }>;
  /** Show work that was asked for beside a request. */
  showJob(input: { id: string }, call?: Call): Promise<{ job: Job }>;
  /** Pause a session after the current iteration. */
  pause(input: { id: string } & Pause, call?: Call): Promise<{ session: Session }>;
  /** Go on with a blocked, paused or failed session, or adopt one without a runner. */
  resume(input: { id: string } & Resume, call?: Call): Promise<{ session: Session }>;
  /** Tell a session something without stopping it; the next brief quotes it. */
  note(input: { id: string } & Note, call?: Call): Promise<{ session: Session }>;
  /** Accept a completion that changed the checks. */
  accept(input: { id: string }, call?: Call): Promise<{ session: Session }>;
  /** Reject a completion that changed the checks; the next run is told why. */
  reject(input: { id: string } & Reject, call?: Call): Promise<{ session: Session }>;
  /** Show how the newest claim was judged: what it changed of the checks, and why. */
  showChecks(input: { id: string }, call?: Call): Promise<{ session: Session; judgement: Judgement; verifications: Verification[]; diff: string }>;
  /** End a session for good; its branch stays. */
  abort(input: { id: string }, call?: Call): Promise<{ session: Session }>;
  /** Merge a complete session into the branch that it began on. */
  merge(input: { id: string } & Merge, call?: Call): Promise<{ session: Session; merged: { base: string; sha: string; how: "ff" | "merge" | "squash" | "pr" } | null; said: string | null }>;
  /** Drop the branch, worktree and refs of a session; for 30 days they can be had back. */
  discard(input: { id: string }, call?: Call): Promise<{ session: Session; kept: string[]; said: string | null }>;
  /** Start a session on the branch of one that has ended, with its context. */
  followUp(input: { id: string } & Follow, call?: Call): Promise<{ sessionId: string; session: Session }>;
  /** List what sessions that ended a while ago still hold, with sizes. */
  showHeld(input?: { olderThan?: string | number }, call?: Call): Promise<{ held: ({ session: Session; branches: { name: string; sha: string; isMerged: boolean; checkedOutIn: string | null }[]; worktree: { path: string; bytes: number } | null; recordingsBytes: number; logBytes: number; rowsBytes: number })[] }>;
  /** List what old sessions hold (branches, worktrees, recordings, logs, rows) and remove what you choose. */
  clean(input?: Clean, call?: Call): Promise<{ removed: string[]; left: { sessionId: string; branch: string; why: string }[]; bytes: number }>;
  /** Show what a discard of the session would take away. */
  showDiscard(input: { id: string }, call?: Call): Promise<{ session: Session; refs: { ref: string; sha: string }[]; back: string | null; worktree: string | null }>;
  /** List sessions as cards, newest first: what each asks of a person, and what happens in it. */
  listCards(input?: { status?: "pending" | "running" | "complete" | "blocked" | "failed" | "paused" | "aborted"; limit?: number; cursor?: string; kind?: string; project?: string; parent?: string; attention?: "needs_you" | "failed" | "no_runner" | "waiting" | "running" | "done"; since?: string; q?: string }, call?: Call): Promise<{ sessions: Card[]; nextCursor: string | null }>;
  /** Show a session without its iterations. */
  showHead(input: { id: string }, call?: Call): Promise<{ session: Card; waiting: { agent: string; failureClass: string; since: string | null; until: string; patienceMs: number | null } | null; judgement: { verdict: "accepted" | "rejected" | "ask"; trust: "verified" | "verified_checks_changed"; reasons: string[]; changes: { path: string; part: string | null; what: "added" | "changed" | "removed" }[]; declared: { path: string; reason: string }[]; base?: { commit: string | null; tests: Record<string, { ran: number; passed: number; failed: number; skipped: number }> }; replay: { tree: string; passed: boolean; commands: { command: string; exit: number | null; passed: boolean; outputHash: string }[] } | null; allowedBy?: "plan" | "policy"; heldOut?: ({ holds: boolean; tests: { ran: number; passed: number; failed: number; skipped: number } | null })[]; opinion?: { agent: string; model: string | null; accept: boolean; reasons: string[]; claims: { text: string; verdict: "true" | "false" | "unproven"; where: string | null }[] }; notes: { path: string; line: number; what: string; text: string }[]; flaky: string[]; iteration: number; attempt: number; decidedBy: string | null; decidedAt: string | null; proof: string | null } | null; head: string | null; unresolved: { pulse: string; issue: string; reason: string }[]; iterations: number; lastSeq: number }>;
  /** List iterations without their long texts, newest first. */
  listIterations(input: { id: string; before?: number; limit?: number; outcome?: "continued" | "completed" | "rejected" | "blocked" | "kept" | "discarded" | "crashed" | "timeout" }, call?: Call): Promise<{ iterations: IterationHead[]; nextBefore: number | null }>;
  /** List events of a session, in order. */
  history(input: { id: string; before?: number; after?: number; limit?: number; types?: string; iteration?: number }, call?: Call): Promise<{ events: Event[]; nextBefore: number | null; nextAfter: number | null; lastSeq: number }>;
  /** Show what a session has changed, file by file. */
  diff(input: { id: string; iteration?: number; from?: string; to?: string; path?: string; stat?: boolean }, call?: Call): Promise<Diff>;
  /** Show what the agent was told in an iteration, by sections. */
  brief(input: { id: string; iteration?: number }, call?: Call): Promise<{ iteration: number; text: string; tokens: number; sections: { title: string; text: string; tokens: number }[]; anchor: { turnId: string; strategy: string | null; resolutionMs: number | null; turn: { id: string; role: string; phase: string; content: string; createdAt: string } | null } | null; slice: string | null; contextTokens: number }>;
  /** Show what the agent printed in an iteration, from its recording. */
  transcript(input: { id: string; iteration?: number; attempt?: number; after?: number; limit?: number }, call?: Call): Promise<{ iteration: number; attempt: number; attempts: number[]; agent: string | null; isRecorded: boolean; entries: { n: number; atMs: number; kind: string; text: string; data: Record<string, unknown> }[]; nextAfter: number | null }>;
  /** List the projects that have sessions, the last used first. */
  projects(input?: Record<never, never>, call?: Call): Promise<{ projects: { id: string; name: string; path: string; isThere: boolean; sessions: number; open: number; spentUsd: number; lastAt: string }[] }>;
  /** List the agents, and whether they can be used here. */
  agents(input?: Record<never, never>, call?: Call): Promise<{ agents: { name: string; isInstalled: boolean; version: string | null; path: string | null; hint: string | null }[] }>;
  /** Show each setting, its value and where it comes from. */
  config(input?: { path?: string }, call?: Call): Promise<{ settings: Record<string, { value?: unknown; source: string }>; project: { path: string; sha256: string; trust: "trusted" | "untrusted" | "unneeded" } | null }>;
  /** Say what works on this machine, what is missing and how to get it. */
  doctor(input?: { path?: string; check?: string }, call?: Call): Promise<{ findings: { level: "ok" | "warn" | "bad" | "absent"; subject: string; text: string; hint?: string }[] }>;
  /** Delete kept refs older than 30 days and what attempts have left, and say what works here. */
  collectGarbage(input?: DoctorGc, call?: Call): Promise<{ findings: { level: "ok" | "warn" | "bad" | "absent"; subject: string; text: string; hint?: string }[] }>;
  /** Check the signed proofs of a commit, a branch or a range, and run their commands again. */
  verifyCommits(input: VerifyCommits, call?: Call): Promise<{ what: string; base: { name: string; commit: string } | null; keys: string[]; verdict: "fresh" | "signed" | "covered" | "stale" | "false" | "unproven"; commits: ({ commit: string; tree: string; verdict: "fresh" | "signed" | "covered" | "stale" | "false" | "unproven"; why: string | null; proofs: ({ state: "known" | "unknown" | "wrong"; problem: string | null; keyId: string | null; work: { trust: string; session: string; agent: { name: string } } | null })[]; checks: ({ command: string; verdict: "fresh" | "false" | "skipped" | "refused"; why: string | null; recorded: { exit: number | null; passed: boolean }; again: { exit: number | null; passed: boolean; outputTail: string } | null })[]; missing: string[] })[] }>;
  /** List the daemons that take attempts. */
  daemons(input?: Record<never, never>, call?: Call): Promise<{ daemons: { owner: string; host: string; labels: string[]; seenUntil: string; isAlive: boolean }[] }>;
  /** Add up sessions, commits, money and tokens in a span of time. */
  sums(input?: { from?: string; to?: string; by?: "day" | "project" | "kind" | "agent" }, call?: Call): Promise<{ from: string; to: string; by: "day" | "project" | "kind" | "agent"; total: { sessions: number; complete: number; verified: number; checksChanged: number; unverified: number; nothingChanged: number; discarded: number; commits: number; runningMs: number; iterations: number; rejected: number; spentUsd: number; rejectedUsd: number; tokens: number }; rows: { key: string; sessions: number; complete: number; verified: number; checksChanged: number; unverified: number; nothingChanged: number; discarded: number; commits: number; runningMs: number; iterations: number; rejected: number; spentUsd: number; rejectedUsd: number; tokens: number }[] }>;
  /** Search goals, turns, mail, beads and changed files. */
  search(input: { q: string; in?: string; project?: string; limit?: number }, call?: Call): Promise<{ query: string; goals?: { sessionId: string; kind: string; goal: string; status: string; project: string; createdAt: string }[]; turns?: { turnId: string; projectId: string; projectPath: string | null; role: string; excerpt: string; createdAt: string }[]; mail?: { messageId: string; threadId: string; projectId: string; projectPath: string | null; from: string; subject: string; excerpt: string; createdAt: string }[]; beads?: { beadId: string; projectId: string; projectPath: string | null; title: string; status: string }[]; files?: { sessionId: string; iteration: number; path: string; commit: string | null }[] }>;
  /** Try a start and undo it: what is wrong with it, and what it would come to. Creates nothing. */
  check(input: Check, call?: Call): Promise<{ isStartable: boolean; violations: { path: string; code: string; message: string; hint: string | null }[]; dirty: { count: number; files: string[] }; isUnverified: boolean; isCostUnknown: boolean; agent: string | null; base: { name: string | null; commit: string } | null; verify: string[]; limits: { maxIterations: number | null; budgetUsd: number | null; budgetTokens: number | null; timeLimitMs: number | null } }>;
  workflow: {
    /** Start a workflow from a plan, or from a goal for which an agent drafts one; it waits for approval unless `approve` is given. */
    start(input: WorkflowStart, call?: Call): Promise<{ sessionId: string; session: Session; workflow: Workflow; pulses: Pulse[] }>;
    /** Show a workflow: its plan, its pulses and what it waits for. */
    show(input: { id: string }, call?: Call): Promise<{ session: Session; trust: "verified" | "verified_checks_changed" | "unverified" | "stale" | "false" | null; workflow: Workflow; pulses: Pulse[]; preflight: Preflight }>;
    /** Approve the plan, or an edited one for what has not been started. */
    approve(input: { id: string } & WorkflowApprove, call?: Call): Promise<{ session: Session }>;
    /** Give a pulse another run, or let it fail. */
    decideExtension(input: { id: string } & WorkflowExtension, call?: Call): Promise<{ session: Session }>;
    /** End the agent now and keep its work on the branch of the pulse. */
    stop(input: { id: string }, call?: Call): Promise<{ session: Session }>;
    /** Merge the finished workflow into its base, or say what is missing. */
    review(input: { id: string } & WorkflowReview, call?: Call): Promise<{ session: Session; merged: { base: string; sha: string } | null; said: string | null }>;
    /** Show the draft of a review: comments that were not sent yet, and the files that were read. */
    showDraft(input: { id: string }, call?: Call): Promise<{ draft: { text: string; comments: ReviewComment[]; viewed: string[]; savedAt: string; savedBy: string; head?: string } | null }>;
    /** Keep the draft of a review in place of the one before, until the review is decided. */
    keepDraft(input: { id: string } & WorkflowKeepDraft, call?: Call): Promise<{ draft: { text: string; comments: ReviewComment[]; viewed: string[]; savedAt: string; savedBy: string; head?: string } | null }>;
    /** Show what was wrong before the first pulse and is held against none. */
    showBaseline(input: { id: string }, call?: Call): Promise<{ baseline: Baseline[] }>;
    /** Record the baseline again. */
    refreshBaseline(input: { id: string }, call?: Call): Promise<{ session: Session }>;
    /** Show what the whole workflow has changed. */
    showDiff(input: { id: string }, call?: Call): Promise<string>;
    /** Show what one pulse has changed. */
    showPulseDiff(input: { id: string; pulseId: string }, call?: Call): Promise<string>;
  };
  research: {
    /** Start research from what a research.yaml holds. */
    start(input: ResearchStart, call?: Call): Promise<{ sessionId: string; session: Session; research: Research }>;
    /** Show research: its baseline, its experiments with their readings, the best so far. */
    show(input: { id: string }, call?: Call): Promise<{ session: Session; research: Research; experiments: Experiment[]; progress: { iteration: number; iterations: number | null; baseline: number | null; metric: number | null; keeps: number; discards: number; crashes: number; best: { iteration: number; description: string } | null; isGoalReached: boolean }; final: string[] }>;
    /** List experiments, oldest first. */
    experiments(input: { id: string; after?: number; limit?: number }, call?: Call): Promise<{ experiments: Experiment[]; nextAfter: number | null }>;
    /** Show what an experiment has changed, file by file. */
    experimentDiff(input: { id: string; n: number; path?: string; stat?: boolean }, call?: Call): Promise<Diff>;
    /** Show its report as one HTML page. */
    report(input: { id: string }, call?: Call): Promise<string>;
    /** Say what becomes of the findings; the session itself does not change. */
    finish(input: { id: string } & ResearchFinish, call?: Call): Promise<{ session: Session; research: Research; implementation: { epic: string; beads: number; swarm: string } | null }>;
    /** Show its tasks at the commander, one for each experiment, with their comments. */
    listTasks(input: { id: string }, call?: Call): Promise<{ tasks: CommanderTask[] }>;
    /** Show what it sent to the commander: every five experiments its status, at the end the result. */
    listMessages(input: { id: string }, call?: Call): Promise<{ messages: CommanderMessage[] }>;
  };
  bead: {
    /** Make a bead: one small piece of work, with its files and the commands that verify it. */
    create(input: BeadCreate, call?: Call): Promise<{ bead: Bead }>;
    /** Show the beads of a project, oldest first, closed ones too. */
    list(input?: { project_key?: string; status?: string; epic?: string; label?: string }, call?: Call): Promise<{ beads: Bead[] }>;
    /** Show the bead that comes next, and why. */
    next(input?: { project_key?: string; epic?: string; agent_name?: string; why?: boolean }, call?: Call): Promise<{ bead: Bead & (Record<string, unknown> | null); why?: { chosen: { id: string; priority: number; critical_path: number; pagerank: number; unblocks: number; created_at: string } | null; skipped: { id: string; reasons: string[] }[] } }>;
    /** Show the graph of beads: each with its weight, and what depends on what. */
    graph(input?: { project_key?: string; epic?: string }, call?: Call): Promise<{ nodes: { id: string; title: string; type: string; status: string; priority: number; epic: string | null; missing: string[]; assignee: string | null; is_ready: boolean; critical_path: number | null; pagerank: number | null; unblocks: number | null }[]; edges: { from: string; to: string; type: string }[] }>;
    /** Export all beads as an issue file of br and bd. */
    exportFile(input?: { project_key?: string }, call?: Call): Promise<string>;
    /** Import beads from an issue file of br or bd, or from a list of tasks: all of them or none. */
    importFile(input: BeadImport, call?: Call): Promise<{ created: string[]; updated: string[]; unchanged: number; kept: number }>;
    /** Have an agent draft an epic and its beads for a goal, as a file that a person reads and imports. */
    plan(input: BeadPlan, call?: Call): Promise<{ sessionId: string; session: Session }>;
    /** Show what was drafted, and the file that it is in. */
    showPlan(input: { id: string }, call?: Call): Promise<{ session: Session; file: string | null; draft: { epic: { id: string; title: string; body?: string; feature?: string }; beads: ({ id: string; title: string; type?: string; priority?: number; body?: string; labels?: string[]; dependencies?: string[]; files: string[]; verify: { command: string; expect?: string; report?: string }[]; testing_mode?: "standard" | "tdd-required"; tdd_steps?: { red: string; green: string; expect?: string }; decision_refs?: string[]; learning_refs?: string[]; changesChecks?: boolean })[] } | null; commands: { bead: string; command: string }[]; content: string | null }>;
    /** Show a bead. */
    show(input: { id: string; project_key?: string }, call?: Call): Promise<{ bead: Bead }>;
    /** Change a bead: what is given replaces what it has. */
    update(input: { id: string } & BeadUpdate, call?: Call): Promise<{ bead: Bead }>;
    /** Close a bead. */
    close(input: { id: string } & BeadClose, call?: Call): Promise<{ bead: Bead }>;
    /** Let a bead change more files. */
    scope(input: { id: string } & BeadScope, call?: Call): Promise<{ bead: Bead; conflicts?: { path: string; pattern: string; holder: string; expires_at: string }[] }>;
  };
  swarm: {
    /** Start workers on the beads of an epic. */
    start(input: SwarmStart, call?: Call): Promise<{ session: Session; swarm: Swarm; workers: SwarmWorker[]; beads: SwarmBead[]; sessionId: string }>;
    /** Show a swarm: its workers, and what became of each bead. */
    show(input: { id: string }, call?: Call): Promise<{ session: Session; swarm: Swarm; workers: SwarmWorker[]; beads: SwarmBead[] }>;
    /** Show the beads that wait to be merged, in their order. */
    queue(input: { id: string }, call?: Call): Promise<{ queue: { bead: string; title: string; worker: string | null; conflicts: number; needsPerson: boolean; since: string }[] }>;
    /** Show what workers that paused have left to be resumed. */
    handoffs(input: { id: string }, call?: Call): Promise<{ handoffs: { handoff_id: string; owner_id: string; feature: string; status: string; paused_at: string; reason: string; summary: string; next_action: string }[] }>;
    /** Give what one worker left to another; it is recorded in both handoffs and in the manifest. */
    reassign(input: { id: string } & SwarmReassign, call?: Call): Promise<{ session: Session; handoff: { handoff_id: string; owner_id: string; feature: string; status: string; paused_at: string; reason: string; summary: string; next_action: string } | null }>;
    /** End the workers now; what they have is kept, and the swarm is paused. */
    stop(input: { id: string }, call?: Call): Promise<{ session: Session }>;
  };
  context: {
    /** Read transcripts of Claude Code and Codex into the project’s turns. */
    importTurns(input: ContextImport, call?: Call): Promise<{ conversations: number; turns: number; added: number; skipped: { file: string; line: number; reason: string }[] }>;
    /** List the turns of a project, oldest first. */
    listTurns(input: { project_key: string; limit?: number; cursor?: string }, call?: Call): Promise<{ turns: Turn[]; nextCursor: string | null }>;
    /** Find turns of a project by words and by what they are about. */
    searchTurns(input: { project_key: string; query: string; limit?: number }, call?: Call): Promise<{ results: { turn_id: string; similarity: number; salience: number; depth: number; role: string; phase: string; created_at: string; excerpt: string }[]; meaning?: "learning"; embedder?: { service: string; model: string; dimension: number | null; state: "ready" | "partial" | "replaced" | "away"; reason: string | null } }>;
    /** Find the places in the code that are about something. */
    searchCode(input: { project_key: string; query: string; limit?: number; wait_ms?: number }, call?: Call): Promise<{ index: "lexical" | "partial" | "ready" | "stale"; results: { path: string; line: number; text: string }[] }>;
    /** The turns that belong to an anchor. */
    createSlice(input: { id: string; project_key: string; policy?: string }, call?: Call): Promise<Slice>;
    /** Show a turn with what was said. */
    showTurn(input: { id: string; project_key?: string }, call?: Call): Promise<{ turn: WholeTurn }>;
  };
  mail: {
    /** Register a name for mail; one that is taken gives another. */
    register(input: MailRegister, call?: Call): Promise<{ agent: { name: string } }>;
    /** Send a message to agents of the project. */
    send(input: MailSend, call?: Call): Promise<{ message: MailMessage }>;
    /** Answer a message: to its sender, in its thread and topic. */
    reply(input: { id: string } & MailReply, call?: Call): Promise<{ message: MailMessage }>;
    /** Acknowledge a message that one got. */
    acknowledge(input: { id: string } & MailAck, call?: Call): Promise<{ message: MailMessage }>;
    /** List messages, oldest first. */
    list(input?: { project_key?: string; agent_name?: string; topic?: string; thread_id?: string; q?: string; limit?: number }, call?: Call): Promise<{ messages: ListedMailMessage[] }>;
  };
  reservations: {
    /** Keep files for an agent for a while: all of them, or none. */
    reserve(input: Reserve, call?: Call): Promise<{ granted: Reservation[]; conflicts: { path: string; pattern: string; holder: string; expires_at: string }[] }>;
    /** Give back what an agent has reserved. */
    release(input: Release, call?: Call): Promise<{ released: Reservation[] }>;
    /** Show who has reserved what. */
    list(input?: { project_key?: string; agent_name?: string }, call?: Call): Promise<{ reservations: Reservation[] }>;
    /** End a reservation, no matter whose it is. */
    end(input: { id: string }, call?: Call): Promise<{ reservation: Reservation & (Record<string, unknown> | null) }>;
  };
  notifications: {
    /** List what people are told, newest first, and what became of it. */
    list(input?: { status?: "waiting" | "planned" | "gathered" | "sent" | "skipped" | "failed"; session?: string; limit?: number; cursor?: string }, call?: Call): Promise<{ notifications: Notification[]; counts: { waiting: number; planned: number; failed: number }; nextCursor: string | null }>;
    /** Try a message again that did not get through. */
    retry(input: { id: string }, call?: Call): Promise<{ notification: Notification }>;
    /** Send one message by what the config says. */
    test(input: TestNotifications, call?: Call): Promise<{ channel: "telegram" | "sms" | "discord" | "webhook" | "ntfy" | "command" | "slack" | "desktop" | "issue"; destination: string; providerId: string | null }>;
    /** Get a code: who sends it from that service within ten minutes may write to Pulse. */
    pair(input: PairChat, call?: Call): Promise<{ channel: "telegram" | "sms" | "discord" | "slack"; code: string; text: string }>;
  };
  device: {
    /** List the devices that have a key, the last used first. */
    list(input?: Record<never, never>, call?: Call): Promise<{ keys: Device[] }>;
    /** Take a key back: its requests are refused, and what it follows ends. */
    revoke(input: { id: string }, call?: Call): Promise<{ key: Device }>;
  };
  schedule: {
    /** Plan a start: by a cron expression, "in 2h" or "at 22:00". What is wrong with it is said now. */
    plan(input: SchedulePlan, call?: Call): Promise<{ schedule: Schedule; note: string | null }>;
    /** List what starts by itself, what comes next first; what is over for a day. */
    list(input?: { all?: boolean }, call?: Call): Promise<{ schedules: Schedule[] }>;
    /** Take a planned start back. */
    remove(input: { id: string }, call?: Call): Promise<{ schedule: Schedule }>;
  };
}
