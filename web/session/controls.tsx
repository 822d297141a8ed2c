/** Pause, abort and a note: what can be said to a session at any time. */
import { type FormEvent, useCallback, useEffect, useState } from 'react';
import { useAction } from '../api/action.ts';
import type { Card, PulseEvent } from '../api/types.ts';
import { useEvents } from '../live/use-live.ts';
import { useActions } from '../shell/actions.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useDraft } from '../ui/draft.ts';
import { ActionButton, Button, Failure } from '../ui/parts.tsx';

export function Controls({ card }: { card: Card }) {
  const [open, setOpen] = useState<'abort' | 'note' | null>(null);
  const stop = useAction(`/api/workflows/${card.id}/stop`, { says: 'The agent is stopped' });
  const isLive = card.status === 'running' || card.status === 'pending';
  const pause = usePause(card.id, isLive);
  const isWorkflow = card.kind === 'workflow';
  // The workers of a swarm are stopped where they are shown.
  const hasOwnStop = isLive && !isWorkflow && card.kind !== 'beads';
  const isOver = card.status === 'complete' || card.status === 'aborted';
  useActions(
    isOver
      ? []
      : [
          ...(isLive ? [{ label: 'Pause after this iteration', key: 'p', run: () => pause.run() }] : []),
          ...(hasOwnStop
            ? [{ label: 'Stop now: end the agent, keep its work', run: () => pause.run({ now: true }) }]
            : []),
          { label: 'Write a note to the agent', run: () => setOpen('note') },
          { label: 'Abort the session', run: () => setOpen('abort') },
        ],
  );
  if (isOver) return null;
  return (
    <span className="controls">
      {isLive && (
        <ActionButton onClick={() => pause.run()} disabled={pause.isBusy || pause.result !== undefined}>
          {pause.result === undefined ? 'Pause' : 'Pausing…'}
        </ActionButton>
      )}
      {hasOwnStop && (
        <ActionButton
          disabled={pause.isBusy}
          onClick={() => pause.run({ now: true })}
          title="Ends the agent; its work is kept aside, and the iteration is done again"
        >
          Stop now
        </ActionButton>
      )}
      {isLive && isWorkflow && (
        <ActionButton
          disabled={stop.isBusy}
          onClick={() => stop.run()}
          title="Ends the agent and keeps its work"
        >
          Stop now
        </ActionButton>
      )}
      <Failure error={stop.error} />
      <Button onClick={() => setOpen('note')}>Note</Button>
      <Button onClick={() => setOpen('abort')}>Abort</Button>
      <Failure error={pause.error} />
      {open === 'note' && <NoteDialog card={card} onClose={() => setOpen(null)} />}
      {open === 'abort' && <AbortDialog card={card} onClose={() => setOpen(null)} />}
    </span>
  );
}

/** What was asked of a run is over with that run. */
function usePause(id: string, isLive: boolean) {
  const pause = useAction(`/api/pulse/${id}/pause`, { says: 'Pause is asked for' });
  const { reset } = pause;
  // biome-ignore lint/correctness/useExhaustiveDependencies: forgotten whenever it stops or runs again
  useEffect(reset, [isLive, reset]);
  // A pause that is resumed at once may never be seen here.
  const forget = useCallback(
    ({ type }: PulseEvent): void => {
      if (type === 'session.resumed') reset();
    },
    [reset],
  );
  useEvents(id, forget);
  return pause;
}

function NoteDialog({ card, onClose }: { card: Card; onClose(): void }) {
  const [text, setText] = useDraft(`note.${card.id}`);
  const [isAnswer, setIsAnswer] = useState(false);
  const note = useAction(`/api/pulse/${card.id}/notes`, {
    says: 'The note is kept',
    onDone: () => {
      setText('');
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    note.run({ text, ...(isAnswer ? { isAnswer } : {}) });
  };
  return (
    <Dialog label="Note to the agent" onClose={onClose}>
      <form onSubmit={submit} className="stack">
        <h2>Note to the agent</h2>
        <label htmlFor="note">Note</label>
        <textarea id="note" rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        <p className="hint">
          The next brief quotes it. An agent that uses the tools of Pulse gets it at once.
        </p>
        <label className="inline">
          <input type="checkbox" checked={isAnswer} onChange={() => setIsAnswer(!isAnswer)} /> It answers what
          the agent asked
        </label>
        <Failure error={note.error} />
        <p className="dialog-end">
          <Button onClick={onClose}>Cancel</Button>
          <ActionButton type="submit" isPrimary disabled={note.isBusy || text.trim() === ''}>
            Send note
          </ActionButton>
        </p>
      </form>
    </Dialog>
  );
}

function AbortDialog({ card, onClose }: { card: Card; onClose(): void }) {
  const abort = useAction(`/api/pulse/${card.id}/abort`, { says: 'The session is aborted', onDone: onClose });
  return (
    <Dialog label="Abort" onClose={onClose}>
      <h2>Abort this session?</h2>
      <p>
        Its agent is ended at once, and the session cannot be resumed. Kept are its {card.total_commits}{' '}
        commits on <code>{card.branch_name}</code>, its evidence and its transcript.
      </p>
      <Failure error={abort.error} />
      <p className="dialog-end">
        <Button onClick={onClose}>Keep it</Button>
        <ActionButton className="button-danger" disabled={abort.isBusy} onClick={() => abort.run()}>
          Abort session
        </ActionButton>
      </p>
    </Dialog>
  );
}
