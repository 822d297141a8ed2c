/** The subjects and bodies of a worker's mail. Pure; the words are part of the protocol. */
import type { Handoff } from './handoff-payload.ts';
import { oneLine } from './quote.ts';

export interface MailText {
  subject: string;
  body: string;
}

export interface WorkerNames {
  /** What the swarm calls it. */
  nickname: string;
  /** What it got when it registered. */
  mailName: string;
}

/** The acknowledgement that comes before the first bead. */
export function onlineMail(
  { nickname, mailName }: WorkerNames,
  { hasAgentsFile = true }: { hasAgentsFile?: boolean } = {},
): MailText {
  return {
    subject: `[ONLINE] ${nickname} / ${mailName}`,
    body: [
      `Runtime nickname: ${nickname}`,
      `Agent Mail name: ${mailName}`,
      `AGENTS.md: read${hasAgentsFile ? '' : ' (absent)'}`,
      'pulse:executing: loading',
    ].join('\n'),
  };
}

/** What a swarm gives its workers, as the first message on the epic's thread: for whom an input does not reach. */
export function swarmMail(swarm: {
  epic: string;
  topic: string;
  coordinator: string;
  feature: string;
  hint: string | null;
  nicknames: readonly string[];
}): MailText {
  const { epic, topic, coordinator, feature, hint, nicknames } = swarm;
  return {
    subject: `[SWARM] ${epic}`,
    body: [
      `Runtime nicknames (PULSE_NICKNAME): ${nicknames.join(', ')}`,
      `Coordinator (PULSE_COORDINATOR): ${coordinator}`,
      `Epic thread (PULSE_THREAD): ${epic}`,
      `Epic topic (PULSE_TOPIC): ${topic}`,
      `Startup hint (PULSE_HINT): ${hint === null || hint === '' ? 'none' : oneLine(hint)}`,
      `Feature (PULSE_FEATURE): ${feature}`,
    ].join('\n'),
  };
}

export interface Completion extends WorkerNames {
  beadId: string;
  summary: string;
  /** Those that were changed. */
  files: readonly string[];
  /** A few words, such as `tests passed`. */
  verification: string;
  commit: string;
  evidencePaths: readonly string[];
  verificationStatus: 'passed' | 'failed';
  /** What still needs a bead of its own. */
  followUps: readonly string[];
}

export function completionMail(completion: Completion): MailText {
  const { beadId, nickname, mailName, evidencePaths, verificationStatus, followUps } = completion;
  const sentences = [
    `Runtime nickname: ${nickname}`,
    `Agent Mail name: ${mailName}`,
    `Implemented: ${withoutStop(completion.summary)}`,
    `Files: ${listed(completion.files)}`,
    `Verification: ${withoutStop(completion.verification)}`,
    `Commit: ${completion.commit}`,
  ];
  return {
    subject: `Completed ${beadId}`,
    body: [
      `${sentences.join('. ')}.`,
      '',
      `Verification evidence: ${listed(evidencePaths)}`,
      `Verification status: ${verificationStatus}`,
      followUps.length === 0 ? 'Follow-ups: none' : `Follow-ups:\n${followUps.map(bullet).join('\n')}`,
    ].join('\n'),
  };
}

export function conflictMail(conflict: {
  beadId: string;
  /** All that the bead needs. */
  files: readonly string[];
  holders: readonly string[];
}): MailText {
  const { beadId, files, holders } = conflict;
  return {
    subject: `File conflict on ${beadId}`,
    body: `Need files: ${listed(files)}. Currently held by: ${listed([...new Set(holders)])}. Requesting resolution.`,
  };
}

export interface HeldFile {
  path: string;
  holder: string;
  expires_at: string;
}

/** What a worker asks for, and how a person allows it. */
export function scopeMail({
  beadId,
  files,
  reason,
}: {
  beadId: string;
  files: readonly string[];
  reason: string;
}): MailText {
  const add = files.map((file) => `--add ${shellWord(file)}`).join(' ');
  return {
    subject: `Scope of ${beadId}`,
    body: `${scopeNeeds(files)} Reason: ${reason}\n\nTo allow it: pulse bead scope ${beadId} ${add}`,
  };
}

/** How the body of a request for these files begins: by that it is known again. */
export function scopeNeeds(files: readonly string[]): string {
  return `Needs: ${files.join(', ')}.`;
}

/** `conflicts`: what others hold of them. */
export function scopeAllowedMail(allowed: {
  beadId: string;
  files: readonly string[];
  conflicts: readonly HeldFile[];
}): MailText {
  const { beadId, files, conflicts } = allowed;
  const held = conflicts.map(
    ({ path, holder, expires_at: until }) => `- ${oneLine(path)} is reserved by ${holder} until ${until}.`,
  );
  return {
    subject: `Scope of ${beadId}: allowed`,
    body: [
      `Allowed: ${listed(files)}. They stand among the files of ${beadId} now.`,
      ...(held.length === 0
        ? ['They are reserved for you.']
        : [
            'They are not reserved for you yet:',
            ...held,
            'Wait until that is over, reserve them with file_reservation_paths, and then edit them.',
          ]),
    ].join('\n'),
  };
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** For a worker's own; throws `TypeError` for one of a single worker, who has nobody to tell. */
export function handoffMail(handoff: Handoff): MailText {
  const { runtime, transfer } = handoff.payload;
  if (runtime === undefined) throw new TypeError('A single worker sends no mail');
  const list = (items: readonly string[]) =>
    items.length === 0 ? 'none' : items.map(withoutStop).join('; ');
  return {
    subject: `[HANDOFF] ${runtime.runtime_nickname} / ${runtime.agent_mail_name}`,
    body: `Handoff summary: ${firstSentence(handoff.summary)}

Resume briefing:
- Next action: ${handoff.next_action}
- Read first: ${handoff.read_first.join(', ')}

Transfer block:
- Status: ${transfer.status}
- Completed: ${list(transfer.completed)}
- In flight: ${list(transfer.in_flight)}
- Blockers: ${list(transfer.blockers)}
- Resume notes: ${list(transfer.resume_notes)}`,
  };
}

function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.map((item) => oneLine(item)).join(', ');
}

function bullet(text: string): string {
  return `- ${oneLine(text)}`;
}

/** So that a sentence does not end twice. */
function withoutStop(text: string): string {
  return oneLine(text, 2_000).replace(/[.\s]+$/, '');
}
