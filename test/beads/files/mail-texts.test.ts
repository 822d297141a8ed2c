import { describe, expect, it } from 'vitest';
import { handoffPayload } from '../../../src/loops/beads/files/handoff-payload.ts';
import {
  completionMail,
  conflictMail,
  handoffMail,
  onlineMail,
} from '../../../src/loops/beads/files/mail-texts.ts';

const NAMES = { nickname: 'worker-1', mailName: 'BlueFox' };
const AT = '2026-02-03T04:05:06.000Z';
const worker = {
  ...NAMES,
  mode: 'worker',
  epicId: 'app-9',
  topic: 'epic-app-9',
  coordinator: 'Coordinator',
  feature: 'auth',
  pausedAt: AT,
  contextUsed: 0.6712,
  closedBeads: ['app-1'],
} as const;

describe('the mail of a worker', () => {
  it('says that it is online, with both identities', () => {
    expect(onlineMail(NAMES)).toEqual({
      subject: '[ONLINE] worker-1 / BlueFox',
      body: 'Runtime nickname: worker-1\nAgent Mail name: BlueFox\nAGENTS.md: read\npulse:executing: loading',
    });
    expect(onlineMail(NAMES, { hasAgentsFile: false }).body).toContain('AGENTS.md: read (absent)');
  });

  it('reports a completed bead', () => {
    const mail = completionMail({
      ...NAMES,
      beadId: 'app-1',
      summary: 'add login.\nSubject: forged',
      files: ['src/a.ts', 'src/b.ts'],
      verification: 'tests passed',
      commit: 'abc123',
      evidencePaths: ['history/auth/verification/app-1.md'],
      verificationStatus: 'passed',
      followUps: ['Rate limits'],
    });
    expect(mail.subject).toBe('Completed app-1');
    expect(mail.body).toBe(
      'Runtime nickname: worker-1. Agent Mail name: BlueFox. Implemented: add login. Subject: forged. Files: src/a.ts, src/b.ts. Verification: tests passed. Commit: abc123.\n\nVerification evidence: history/auth/verification/app-1.md\nVerification status: passed\nFollow-ups:\n- Rate limits',
    );
  });

  it('asks for files that another holds', () => {
    expect(
      conflictMail({ beadId: 'app-1', files: ['src/a.ts', 'src/b.ts'], holders: ['Fox', 'Fox'] }),
    ).toEqual({
      subject: 'File conflict on app-1',
      body: 'Need files: src/a.ts, src/b.ts. Currently held by: Fox. Requesting resolution.',
    });
  });

  it('tells of a handoff', () => {
    expect(handoffMail(handoffPayload(worker))).toEqual({
      subject: '[HANDOFF] worker-1 / BlueFox',
      body: `Handoff summary: Worker paused cleanly because context is near the limit.

Resume briefing:
- Next action: Check the epic thread, then run bv --robot-priority before claiming more work.
- Read first: AGENTS.md, .pulse/STATE.md, history/auth/CONTEXT.md, .pulse/handoffs/worker-BlueFox.json

Transfer block:
- Status: Worker is paused safely and no longer editing files.
- Completed: Closed bead app-1 and sent the completion report
- In flight: No bead currently claimed; resume from the live graph after checking mail
- Blockers: none
- Resume notes: Run fetch_inbox(...) on epic-app-9 before selecting work; Re-check file reservations before editing any file; Use bv --robot-priority as the source of truth for the next bead`,
    });
  });
});

describe('the payload of a handoff', () => {
  it('of a worker has every field in its order', () => {
    const payload = handoffPayload(worker);
    expect(JSON.stringify(payload, null, 2)).toBe(`{
  "schema_version": "2.0",
  "handoff_id": "worker-BlueFox-${AT}",
  "owner_type": "worker",
  "owner_id": "worker-BlueFox",
  "skill": "pulse:executing",
  "feature": "auth",
  "phase": "execution/app-9",
  "status": "ready_to_resume",
  "paused_at": "${AT}",
  "reason": "context_critical",
  "next_action": "Check the epic thread, then run bv --robot-priority before claiming more work.",
  "read_first": [
    "AGENTS.md",
    ".pulse/STATE.md",
    "history/auth/CONTEXT.md",
    ".pulse/handoffs/worker-BlueFox.json"
  ],
  "summary": "Worker paused cleanly because context is near the limit. The next turn should rejoin coordination, confirm the current graph state, and continue from the highest-priority executable bead.",
  "payload": {
    "runtime": {
      "runtime_nickname": "worker-1",
      "agent_mail_name": "BlueFox",
      "epic_id": "app-9",
      "epic_topic": "epic-app-9",
      "coordinator_agent_name": "Coordinator"
    },
    "context_snapshot": {
      "tokens_used_pct": 0.67,
      "last_bead_closed": "app-1"
    },
    "transfer": {
      "status": "Worker is paused safely and no longer editing files.",
      "completed": [
        "Closed bead app-1 and sent the completion report"
      ],
      "in_flight": [
        "No bead currently claimed; resume from the live graph after checking mail"
      ],
      "blockers": [],
      "resume_notes": [
        "Run fetch_inbox(...) on epic-app-9 before selecting work",
        "Re-check file reservations before editing any file",
        "Use bv --robot-priority as the source of truth for the next bead"
      ]
    },
    "verification_evidence_paths": [
      "history/auth/verification/app-1.md"
    ]
  }
}`);
  });

  it('of a single worker has every field in its order', () => {
    const { feature, pausedAt, contextUsed, closedBeads } = worker;
    const payload = handoffPayload({
      mode: 'standalone',
      nextHint: 'app-2',
      ...{ feature, pausedAt, contextUsed, closedBeads },
    });
    expect(JSON.stringify(payload, null, 2)).toBe(`{
  "schema_version": "2.0",
  "handoff_id": "single-worker-${AT}",
  "owner_type": "worker",
  "owner_id": "single-worker",
  "skill": "pulse:executing",
  "feature": "auth",
  "phase": "execution/standalone",
  "status": "ready_to_resume",
  "paused_at": "${AT}",
  "reason": "context_critical",
  "next_action": "Re-read state, inspect the next executable bead, and continue the standalone loop.",
  "read_first": [
    "AGENTS.md",
    ".pulse/STATE.md",
    "history/auth/CONTEXT.md",
    ".pulse/handoffs/single-worker.json"
  ],
  "summary": "Single-worker execution paused cleanly because context is near the limit. Resume by restoring state, checking the next bead, and continuing verification discipline.",
  "payload": {
    "context_snapshot": {
      "tokens_used_pct": 0.67,
      "last_bead_closed": "app-1"
    },
    "transfer": {
      "status": "Standalone execution is paused safely.",
      "completed": [
        "Closed bead app-1 and recorded completion in .pulse/STATE.md"
      ],
      "in_flight": [
        "Next priority hint: app-2"
      ],
      "blockers": [],
      "resume_notes": [
        "Read the current bead fully with br show before editing",
        "Keep file edits within the next bead's declared scope",
        "Update verification evidence before closing another bead"
      ]
    },
    "verification_evidence_paths": [
      "history/auth/verification/app-1.md"
    ]
  }
}`);
  });

  it('names the bead that is in flight', () => {
    const payload = handoffPayload({ ...worker, closedBeads: [], beadInFlight: 'app-3' });
    expect(payload.payload.transfer.in_flight).toEqual([
      'Bead app-3 is in progress and not closed; finish it before selecting another',
    ]);
    expect(payload.payload.context_snapshot.last_bead_closed).toBeNull();
    expect(payload.payload.transfer.completed).toEqual([]);
  });
});
