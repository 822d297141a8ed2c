/** Another session on the branch of one that has ended, with its context and its choices, or others. */
import { type FormEvent, useState } from 'react';
import { useAction } from '../api/action.ts';
import type { Card } from '../api/types.ts';
import { sessionAddress, useGo } from '../ui/address.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useDraft } from '../ui/draft.ts';
import { bodyOf, type Field, Fields, Panel, useValues } from '../ui/form.tsx';
import { ActionButton, Button, Failure } from '../ui/parts.tsx';

/** What is empty is as it was for the first one. */
const FOLLOW: Field[] = [
  { name: 'agent', label: 'Agent' },
  { name: 'model', label: 'Model' },
  { name: 'command', label: 'Command, instead of an agent', isWide: true },
  { name: 'verify', label: 'Verify', kind: 'lines', hint: 'One command a line.' },
  { name: 'setup', label: 'Setup', kind: 'lines', hint: 'One command a line.' },
  { name: 'maxIterations', label: 'Iterations', kind: 'number' },
  { name: 'budgetUsd', label: 'Budget, USD', kind: 'usd' },
  { name: 'budgetTokens', label: 'Budget, tokens', kind: 'number' },
  { name: 'timeLimit', label: 'Time', placeholder: '8h' },
  { name: 'iterationTimeout', label: 'An iteration takes at most', placeholder: '1h' },
  { name: 'idleTimeout', label: 'An agent is silent at most', placeholder: '15m' },
  { name: 'projectName', label: 'Name of the project' },
  { name: 'sandbox', label: 'Sandbox', kind: 'choice', choices: ['off', 'auto', 'on'] },
  {
    name: 'checks',
    label: 'A completion that changes checks',
    kind: 'choice',
    choices: ['ask', 'allow', 'forbid'],
  },
  {
    name: 'contextStrategy',
    label: 'Earlier context',
    kind: 'choice',
    choices: ['none', 'prefetch', 'mcp', 'hybrid'],
  },
  { name: 'anchorTurnId', label: 'Begin at the turn' },
  { name: 'noBase', label: 'Do not run the checks first', kind: 'flag' },
  { name: 'record', label: 'Record no transcript', kind: 'flag' },
  { name: 'trust', label: "Trust the repository's own config", kind: 'flag' },
];

export function FollowDialog({ session, onClose }: { session: Card; onClose(): void }) {
  const [goal, setGoal] = useDraft(`follow.${session.id}`);
  const [more, setMore, clearMore] = useValues(`follow-more.${session.id}`);
  const [fault, setFault] = useState<unknown>(null);
  const go = useGo();
  const follow = useAction<{ session: { id: string; kind: string } }>(`/api/pulse/${session.id}/follow`, {
    says: 'It has started',
    onDone: ({ session: next }) => {
      setGoal('');
      clearMore();
      onClose();
      go(sessionAddress(next));
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setFault(null);
    try {
      const { record, ...body } = bodyOf(FOLLOW, more);
      follow.run({ goal, ...body, ...(record ? { record: false } : {}) });
    } catch (thrown) {
      setFault(thrown);
    }
  };
  return (
    <Dialog label="Follow up" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <h2>Follow up</h2>
        <label htmlFor="follow">Goal</label>
        <textarea id="follow" rows={4} value={goal} onChange={({ target }) => setGoal(target.value)} />
        <p className="hint">
          A new session on <code>{session.branch_name}</code>, with this one's context and choices.
        </p>
        <Panel title="With other choices">
          <Fields fields={FOLLOW} values={more} onChange={setMore} />
        </Panel>
        <Failure error={fault ?? follow.error} />
        <p className="dialog-end">
          <Button onClick={onClose}>Cancel</Button>
          <ActionButton type="submit" isPrimary disabled={follow.isBusy || goal.trim() === ''}>
            Start follow-up
          </ActionButton>
        </p>
      </form>
    </Dialog>
  );
}
