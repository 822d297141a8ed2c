/** The pulses in their order, each with its tries, its commit and what is left. */
import { useState } from 'react';
import type { Pulse, WorkflowView } from '../api/types.ts';
import { plural, shortSha } from '../ui/format.ts';
import { Button } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { PulseDiff } from './pulse-diff.tsx';

export function Pulses({ view: { pulses, session } }: { view: WorkflowView }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <ol className="pulses" aria-label="Pulses">
      {pulses.map((pulse) => (
        <li key={pulse.id}>
          <div className="pulse-row">
            <Outcome word={pulseWord(pulse, session)} />
            <b>{pulse.title}</b>
            <code className="dim">{pulse.plannedPulseId}</code>
            <span className="dim figures">
              {pulse.runs > 0 && plural(pulse.runs, 'run')}
              {pulse.rejections > 0 && `, rejected ${pulse.rejections}×`}
              {pulse.extensions > 0 && `, ${plural(pulse.extensions, 'extension')}`}
            </span>
            {pulse.checkpointCommitSha && <code>{shortSha(pulse.checkpointCommitSha)}</code>}
            {(pulse.checkpointCommitSha || pulse.status === 'running') && (
              <Button
                isQuiet
                aria-expanded={open === pulse.id}
                onClick={() => setOpen(open === pulse.id ? null : pulse.id)}
              >
                {open === pulse.id ? 'Hide changes' : 'Changes'}
              </Button>
            )}
          </div>
          <PulseNotes pulse={pulse} />
          {open === pulse.id && <PulseDiff id={session.id} pulse={pulse.id} />}
        </li>
      ))}
    </ol>
  );
}

/** A pulse is run as long as its session is: else it waits for what the session waits for. */
export function pulseWord({ status }: Pick<Pulse, 'status'>, session: { status: string }): string {
  return status === 'running' && session.status !== 'running' ? 'waiting' : status;
}

function PulseNotes({ pulse }: { pulse: Pulse }) {
  return (
    <>
      {pulse.failureReason && <p className="tone-failed">{pulse.failureReason}</p>}
      {pulse.isRecoveryCheckpoint && <p className="dim">What it had is kept on {pulse.pulseBranch}.</p>}
      {pulse.unresolvedIssues.map(({ issue, reason }) => (
        <p key={issue} className="tone-unverified">
          unresolved: {issue} <span className="dim">({reason})</span>
        </p>
      ))}
    </>
  );
}
