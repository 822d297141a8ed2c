/** What was wrong before the first pulse, and is held against none. */
import { useAction } from '../api/action.ts';
import type { Baseline } from '../api/types.ts';
import { ActionButton, Failure } from '../ui/parts.tsx';

export function BaselineList({ id, baseline }: { id: string; baseline: Baseline }) {
  const refresh = useAction(`/api/workflows/${id}/baseline/refresh`, {
    says: 'The baseline is recorded again',
  });
  return (
    <details className="section">
      <summary>
        <h2>
          Baseline <span className="count">{baseline.length} known</span>
        </h2>
      </summary>
      <div className="table-wrap">
        <table>
          <thead>
            <tr>
              <th>kind</th>
              <th>where</th>
              <th>what</th>
              <th className="number">count</th>
            </tr>
          </thead>
          <tbody>
            {baseline.map((issue) => (
              <tr key={issue.id}>
                <td>
                  {issue.source} {issue.category}
                </td>
                <td>
                  <code>{issue.filePath ?? issue.command}</code>
                </td>
                <td>{issue.description ?? issue.pattern}</td>
                <td className="number">{issue.count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ActionButton disabled={refresh.isBusy} onClick={() => refresh.run({})}>
        Record it again
      </ActionButton>
      <Failure error={refresh.error} />
    </details>
  );
}
