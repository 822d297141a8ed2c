/** Answer and resume, after a limit with a higher one. */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useAction } from '../api/action.ts';
import type { Card } from '../api/types.ts';
import { useActions } from '../shell/actions.ts';
import { useDraft } from '../ui/draft.ts';
import { Fields, Panel, useValues } from '../ui/form.tsx';
import { ActionButton, Failure } from '../ui/parts.tsx';
import { limitOf, MORE, resumeBody } from './resume-body.ts';

export function AnswerForm({ session }: { session: Card }) {
  const [answer, setAnswer] = useDraft(`answer.${session.id}`);
  const limit = limitOf(session);
  // Untouched it follows the limit: the session may reach the next one while this is shown.
  const [typed, setTyped] = useState<string | null>(null);
  const raised = typed ?? limit?.proposal ?? '';
  const box = useRef<HTMLTextAreaElement>(null);
  const resume = useAction(`/api/pulse/${session.id}/resume`, {
    says: 'The session runs again',
    onDone: () => {
      setAnswer('');
      setTyped(null);
      clearMore();
    },
  });
  const [more, setMore, clearMore] = useValues(`resume.${session.id}`);
  const [fault, setFault] = useState<unknown>(null);
  const send = (): void => {
    setFault(null);
    try {
      resume.run(resumeBody({ limit, raised, more, answer }));
    } catch (thrown) {
      setFault(thrown);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send();
  };
  useActions([
    { label: 'Answer', key: 'a', run: () => box.current?.focus() },
    { label: 'Resume', key: 'r', run: send },
  ]);
  useEffect(() => {
    if (location.hash === '#answer') box.current?.focus();
  }, []);
  const isQuestion = session.stop_reason === 'blocked_by_agent';
  return (
    <form className="answer" onSubmit={submit}>
      <label htmlFor="answer-text">Answer</label>
      <textarea
        id="answer-text"
        ref={box}
        rows={isQuestion ? 3 : 2}
        value={answer}
        placeholder={isQuestion ? 'What the agent should know' : 'A word to the agent, if you have one'}
        onChange={(event) => setAnswer(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
        }}
      />
      {limit && (
        <div className="limit">
          <Fields
            fields={[limit]}
            values={{ [limit.name]: raised }}
            onChange={(_, value) => setTyped(value)}
          />
        </div>
      )}
      <ActionButton type="submit" isPrimary disabled={resume.isBusy}>
        Resume
      </ActionButton>
      <Panel title="Resume with other limits, checks or another agent">
        <Fields fields={MORE} values={more} onChange={setMore} />
      </Panel>
      <Failure error={fault ?? resume.error} />
    </form>
  );
}
