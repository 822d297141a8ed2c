/** What was changed: by one iteration, or by all of the session's work. */
import { useState } from 'react';
import { useDiff } from '../api/queries.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { Empty, Failure, Loading } from '../ui/parts.tsx';

export function DiffTab({ id, iteration, isWhole }: { id: string; iteration: number; isWhole: boolean }) {
  const [scope, setScope] = useState<'whole' | 'iteration'>(isWhole ? 'whole' : 'iteration');
  const base = `/api/pulse/${id}`;
  const asked = scope === 'whole' ? {} : { iteration };
  const { data, error } = useDiff(base, asked);
  return (
    <div>
      <fieldset className="choice">
        <legend className="unseen">What is shown</legend>
        <label>
          <input
            type="radio"
            name="scope"
            checked={scope === 'iteration'}
            onChange={() => setScope('iteration')}
          />{' '}
          Iteration {iteration}
        </label>
        <label>
          <input type="radio" name="scope" checked={scope === 'whole'} onChange={() => setScope('whole')} />{' '}
          Whole session
        </label>
      </fieldset>
      <Failure error={error} />
      {!data && !error && <Loading of="the diff" />}
      {data && data.files.length === 0 && <Empty>Nothing was changed.</Empty>}
      {data && data.files.length > 0 && (
        <DiffView files={data.files} source={{ base, asked }} isTruncated={data.isTruncated} />
      )}
    </div>
  );
}
