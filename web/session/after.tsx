/** What can be done with a session that has stopped: bring its branch in, follow it up, or discard it. */
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import { useRead } from '../api/queries.ts';
import type { Card, Head } from '../api/types.ts';
import { useActions } from '../shell/actions.ts';
import { Dialog } from '../ui/dialog.tsx';
import { plural, shortSha } from '../ui/format.ts';
import { ActionButton, Button, Failure } from '../ui/parts.tsx';
import { TrustWord } from '../ui/status.tsx';
import { At } from '../ui/time.tsx';
import { FollowDialog } from './follow-dialog.tsx';

/** Their own reviews or drafts come first. */
const ELSEWHERE = ['workflow', 'bead-plan'];

export function After({ head: { session } }: { head: Head }) {
  const [open, setOpen] = useState<'follow' | 'discard' | null>(null);
  const isOver = session.status === 'complete' || session.status === 'aborted';
  const isShown = isOver && session.parent_session_id === null && session.discarded_at === null;
  useActions(
    isShown
      ? [
          { label: 'Follow up', run: () => setOpen('follow') },
          { label: 'Discard', run: () => setOpen('discard') },
        ]
      : [],
  );
  if (session.discarded_at) {
    return (
      <p className="after dim">
        discarded by {session.discarded_by} <At at={session.discarded_at} />; for 30 days its work can be had
        back
      </p>
    );
  }
  if (!isShown) return null;
  return (
    <section className={`decide ${session.status === 'complete' ? 'tone-edge-done' : 'tone-edge-quiet'}`}>
      <Standing session={session} />
      <p className="row">
        <Button onClick={() => setOpen('follow')}>Follow up</Button>
        <Button onClick={() => setOpen('discard')}>Discard</Button>
      </p>
      {open === 'follow' && <FollowDialog session={session} onClose={() => setOpen(null)} />}
      {open === 'discard' && <DiscardDialog session={session} onClose={() => setOpen(null)} />}
    </section>
  );
}

function Standing({ session }: { session: Card }) {
  if (session.merged_at) {
    return (
      <p>
        Merged into <code>{session.merged_into}</code> as <code>{shortSha(session.merged_sha)}</code> by{' '}
        {session.merged_by} <At at={session.merged_at} />
      </p>
    );
  }
  const canMerge = session.status === 'complete' && session.total_commits > 0 && session.base_branch !== null;
  return (
    <>
      <p>
        <b>{session.status === 'complete' ? 'Complete' : 'Aborted'}</b> <TrustWord trust={session.trust} />{' '}
        {plural(session.total_commits, 'commit')} on <code>{session.branch_name}</code>
      </p>
      {canMerge && !ELSEWHERE.includes(session.kind) && <Merge session={session} />}
    </>
  );
}

function Merge({ session }: { session: Card }) {
  const [how, setHow] = useState('ff');
  const merge = useAction<{ said: string | null }>(`/api/pulse/${session.id}/merge`, {
    says: 'It is merged',
  });
  return (
    <>
      <p className="row">
        <label className="inline">
          Merge by{' '}
          <select value={how} onChange={({ target }) => setHow(target.value)}>
            <option value="ff">fast-forward</option>
            <option value="merge">merge commit</option>
            <option value="squash">squash</option>
            <option value="pr">pull request</option>
          </select>
        </label>
        <ActionButton isPrimary disabled={merge.isBusy} onClick={() => merge.run({ how })}>
          Approve and merge
        </ActionButton>
        <span className="hint">
          into <code>{session.base_branch}</code>
        </span>
      </p>
      {merge.result?.said && <p>{merge.result.said}</p>}
      <Failure error={merge.error} />
    </>
  );
}

function DiscardDialog({ session, onClose }: { session: Card; onClose(): void }) {
  const path = `/api/pulse/${session.id}/discard`;
  const { data } = useRead<{ refs: { ref: string; sha: string }[] }>(path);
  const discard = useAction(path, { says: 'It is discarded', onDone: onClose });
  return (
    <Dialog label="Discard" onClose={onClose}>
      <h2>Discard its work?</h2>
      <p>Its branch, worktree and refs go. For 30 days they are kept under refs/pulse/recovery/.</p>
      <ul className="reasons">
        {data?.refs.map(({ ref, sha }) => (
          <li key={ref}>
            <code>{ref}</code> <code className="dim">{shortSha(sha)}</code>
          </li>
        ))}
      </ul>
      <Failure error={discard.error} />
      <p className="dialog-end">
        <Button onClick={onClose}>Keep it</Button>
        <ActionButton className="button-danger" disabled={discard.isBusy} onClick={() => discard.run()}>
          Discard session
        </ActionButton>
      </p>
    </Dialog>
  );
}
