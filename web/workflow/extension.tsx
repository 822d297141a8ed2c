/** A pulse asks for another run. */
import { useAction } from '../api/action.ts';
import type { WorkflowView } from '../api/types.ts';
import { ActionButton, Failure } from '../ui/parts.tsx';

export function Extension({ view: { pulses, session } }: { view: WorkflowView }) {
  const asking = pulses.findLast(({ extension }) => extension !== null);
  const decide = useAction(`/api/workflows/${session.id}/extension`, { says: 'The extension is decided' });
  return (
    <section className="decide tone-edge-needs" id="decide">
      <h2>{asking ? `"${asking.title}" asks for another run` : 'A pulse asks for another run'}</h2>
      {asking?.extension && (
        <>
          <p>{asking.extension.reason}</p>
          <div className="claims">
            <Points title="Done" points={asking.extension.completed} />
            <Points title="Left" points={asking.extension.remaining} />
          </div>
        </>
      )}
      <p className="row">
        <ActionButton isPrimary disabled={decide.isBusy} onClick={() => decide.run({ approve: true })}>
          Approve extension
        </ActionButton>
        <ActionButton disabled={decide.isBusy} onClick={() => decide.run({ approve: false })}>
          Deny
        </ActionButton>
        <span className="hint">Denied, the pulse fails and its work is kept on its branch.</span>
      </p>
      <Failure error={decide.error} />
    </section>
  );
}

function Points({ title, points }: { title: string; points: readonly string[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul className="reasons">
        {points.map((point) => (
          <li key={point}>{point}</li>
        ))}
      </ul>
    </section>
  );
}
