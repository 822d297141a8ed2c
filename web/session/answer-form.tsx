/** Answer and resume. After a limit it asks for a higher one; twice as much is filled in. */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useAction } from '../api/action.ts';
import type { Card } from '../api/types.ts';
import { useActions } from '../shell/actions.ts';
import { useDraft } from '../ui/draft.ts';
import { bodyOf, type Field, Fields, Panel, useValues } from '../ui/form.tsx';
import { wholeDuration } from '../ui/format.ts';
import { ActionButton, Failure } from '../ui/parts.tsx';

/** What a resume may change; what is empty stays as it is. */
const MORE: Field[] = [
  { name: 'maxIterations', label: 'Iterations in all', kind: 'number' },
  { name: 'budgetUsd', label: 'Budget in all, USD', kind: 'number' },
  { name: 'budgetTokens', label: 'Budget in all, tokens', kind: 'number' },
  { name: 'timeLimit', label: 'Time in all', placeholder: '8h' },
  { name: 'iterationTimeout', label: 'An iteration takes at most', placeholder: '1h' },
  { name: 'idleTimeout', label: 'The agent is silent at most', placeholder: '15m' },
  { name: 'agent', label: 'Agent' },
  { name: 'model', label: 'Model' },
  { name: 'command', label: 'Command, instead of an agent', isWide: true },
  { name: 'verify', label: 'Verify', kind: 'lines', hint: 'One command a line, in place of those before.' },
  { name: 'setup', label: 'Setup', kind: 'lines', hint: 'One command a line.' },
  {
    name: 'checks',
    label: 'A completion that changes checks',
    kind: 'choice',
    choices: ['ask', 'allow', 'forbid'],
  },
];

interface Limit {
  label: string;
  field: string;
  proposal: string;
  parse(text: string): unknown;
}

export function AnswerForm({ session }: { session: Card }) {
  const [answer, setAnswer] = useDraft(`answer.${session.id}`);
  const limit = limitOf(session);
  const [raised, setRaised] = useState(limit?.proposal ?? '');
  const box = useRef<HTMLTextAreaElement>(null);
  const resume = useAction(`/api/pulse/${session.id}/resume`, {
    says: 'The session runs again',
    onDone: () => {
      setAnswer('');
      clearMore();
    },
  });
  const [more, setMore, clearMore] = useValues(`resume.${session.id}`);
  const send = (): void =>
    resume.run({
      ...bodyOf(MORE, more),
      ...(answer.trim() === '' ? {} : { answer }),
      ...(limit ? { [limit.field]: limit.parse(raised) } : {}),
    });
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
        <label className="limit">
          {limit.label} <input value={raised} size={8} onChange={(event) => setRaised(event.target.value)} />
        </label>
      )}
      <ActionButton type="submit" isPrimary disabled={resume.isBusy}>
        Resume
      </ActionButton>
      <Panel title="Resume with other limits, checks or another agent">
        <Fields fields={MORE} values={more} onChange={setMore} />
      </Panel>
      <Failure error={resume.error} />
    </form>
  );
}

function limitOf(card: Card): Limit | null {
  switch (card.stop_reason) {
    case 'iteration_limit':
      return {
        label: 'Iterations',
        field: 'maxIterations',
        proposal: String(card.max_iterations * 2),
        parse: Number,
      };
    case 'budget_cost':
      return {
        label: 'Budget, USD',
        field: 'budgetUsd',
        proposal: String((card.budget_usd ?? 5) * 2),
        parse: Number,
      };
    case 'budget_tokens':
      return {
        label: 'Tokens',
        field: 'budgetTokens',
        proposal: String((card.budget_tokens ?? 0) * 2),
        parse: Number,
      };
    case 'budget_time':
      return {
        label: 'Time',
        field: 'timeLimit',
        proposal: wholeDuration((card.time_limit_ms ?? 3_600_000) * 2),
        parse: (text) => text,
      };
    default:
      return null;
  }
}
