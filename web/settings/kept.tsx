/** What sessions that ended a while ago still hold, and cleaning it up. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useAction } from '../api/action.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import { sessionAddress } from '../ui/address.ts';
import { Dialog } from '../ui/dialog.tsx';
import { plural } from '../ui/format.ts';
import { ActionButton, Button, Empty, Failure, Loading, Section } from '../ui/parts.tsx';

export function Kept() {
  const [olderThan, setOlderThan] = useState('24h');
  const [isAsking, setIsAsking] = useState(false);
  const { data, error } = useAnswer(['held', olderThan], (call) => pulse.showHeld({ olderThan }, call));
  return (
    <Section
      title="Kept work"
      aside={
        <>
          <label className="inline">
            Older than{' '}
            <input size={5} value={olderThan} onChange={({ target }) => setOlderThan(target.value)} />
          </label>
          <Button disabled={!data || data.held.length === 0} onClick={() => setIsAsking(true)}>
            Clean…
          </Button>
        </>
      }
    >
      <Failure error={error} />
      {!data && !error && <Loading of="what is kept" />}
      {data?.held.length === 0 && <Empty command="pulse clean">Nothing old is kept.</Empty>}
      <ul className="found" aria-label="Kept work">
        {data?.held.map(({ session, branches, worktree, ...sizes }) => (
          <li key={session.id}>
            <Link href={sessionAddress(session)}>{session.goal}</Link>{' '}
            <span className="dim">
              {session.status}, {plural(branches.length, 'branch', 'branches')}
              {branches.some(({ isMerged }) => !isMerged) && ' (not merged)'}
              {worktree && `, worktree ${megabytes(worktree.bytes)}`},{' '}
              {megabytes(sizes.recordingsBytes + sizes.logBytes + sizes.rowsBytes)} of records
            </span>
          </li>
        ))}
      </ul>
      {isAsking && <CleanDialog olderThan={olderThan} onClose={() => setIsAsking(false)} />}
    </Section>
  );
}

function CleanDialog({ olderThan, onClose }: { olderThan: string; onClose(): void }) {
  const [isUnmerged, setIsUnmerged] = useState(false);
  const clean = useAction(pulse.clean, { says: 'It is cleaned up' });
  const { result } = clean;
  return (
    <Dialog label="Clean" onClose={onClose}>
      <h2>Remove what these sessions hold?</h2>
      <p>
        Of sessions that ended more than {olderThan} ago: branches that are merged, worktrees, recordings,
        logs and rows.
      </p>
      <label className="inline">
        <input type="checkbox" checked={isUnmerged} onChange={() => setIsUnmerged(!isUnmerged)} /> Also
        branches that are not merged; for 30 days they can be had back
      </label>
      {result && (
        <p className="tone-done" role="status">
          {plural(result.removed.length, 'session')} cleaned, {megabytes(result.bytes)} freed
          {result.left.length > 0 && `; ${plural(result.left.length, 'branch', 'branches')} left`}
        </p>
      )}
      <Failure error={clean.error} />
      <p className="dialog-end">
        <Button onClick={onClose}>{result ? 'Close' : 'Keep it'}</Button>
        {!result && (
          <ActionButton
            className="button-danger"
            disabled={clean.isBusy}
            onClick={() => clean.run({ olderThan, ...(isUnmerged ? { unmerged: true } : {}) })}
          >
            Clean up
          </ActionButton>
        )}
      </p>
    </Dialog>
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
