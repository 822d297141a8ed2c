/** A completion that changed what judges it: the diff of the checks alone, and a person's word. */
import { type FormEvent, useMemo } from 'react';
import { useAction } from '../api/action.ts';
import { useChangedChecks } from '../api/queries.ts';
import type { Card, Judgement } from '../api/types.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { filesOfPatch } from '../diff/parse.ts';
import { useDraft } from '../ui/draft.ts';
import { ActionButton, Failure, Loading } from '../ui/parts.tsx';

export function ChangedChecks({ id }: { id: string }) {
  const { data, error } = useChangedChecks(id, true);
  const [text, setText] = useDraft(`reject.${id}`);
  const accept = useAction(`/api/pulse/${id}/accept`, { says: 'The changed checks are accepted' });
  const reject = useAction(`/api/pulse/${id}/reject`, {
    says: 'The claim is rejected',
    onDone: () => setText(''),
  });
  const files = useMemo(() => filesOfPatch(data?.diff ?? ''), [data?.diff]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    reject.run({ text });
  };
  return (
    <section className="decide tone-edge-needs" id="decide">
      <h2>The completion changed its own checks</h2>
      {!data && !error && <Loading of="the checks" />}
      <Failure error={error} />
      {data && (
        <>
          <ul>
            {data.judgement.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
          {data.judgement.declared.map(({ path, reason }) => (
            <p key={path}>
              The agent says of <code>{path}</code>: {reason}
            </p>
          ))}
          <DiffView files={files} />
        </>
      )}
      <form className="answer" onSubmit={submit}>
        <ActionButton isPrimary disabled={accept.isBusy} onClick={() => accept.run()}>
          Accept changed checks
        </ActionButton>
        <label htmlFor="reject-text">Or say what to do instead</label>
        <textarea id="reject-text" rows={2} value={text} onChange={(event) => setText(event.target.value)} />
        <ActionButton type="submit" disabled={reject.isBusy || text.trim() === ''}>
          Reject
        </ActionButton>
        <Failure error={accept.error ?? reject.error} />
      </form>
    </section>
  );
}

/** What was changed of the checks stays to be seen once it is decided, by the newest claim that changed any. */
export function DecidedChecks({ session, judgements }: { session: Card; judgements: readonly Judgement[] }) {
  const newest = judgements.at(-1);
  const isDecided = newest !== undefined && newest.changes.length > 0 && newest.verdict !== 'ask';
  const { data, error } = useChangedChecks(session.id, isDecided);
  const files = useMemo(() => filesOfPatch(data?.diff ?? ''), [data?.diff]);
  if (!isDecided) return null;
  return (
    <section className="claim" aria-label="The changed checks">
      <h4>
        The changed checks of iteration {newest.iteration}, {newest.verdict}
        {newest.decidedBy && ` by ${newest.decidedBy}`}
      </h4>
      {!data && !error && <Loading of="the checks" />}
      <Failure error={error} />
      {data && <DiffView files={files} />}
    </section>
  );
}
