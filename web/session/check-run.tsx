/** A command that Pulse ran: its exit, its tests and the end of what it printed. */
import type { Verification } from '../api/types.ts';
import { duration } from '../ui/format.ts';
import { Output } from '../ui/output.tsx';
import { Tag } from '../ui/status.tsx';

export function CheckRun({ run }: { run: Verification }) {
  const { command, exit, passed, tests, outputTail } = run;
  return (
    <details className="check-run">
      <summary>
        <Tag tone={passed ? 'done' : 'failed'} icon={passed ? 'done' : 'failed'}>
          {passed ? 'passed' : 'failed'}
        </Tag>{' '}
        <code>{command}</code>{' '}
        <span className="dim figures">
          {exit === null ? 'no exit' : `exit ${exit}`}, {duration(run.durationMs)}
          {tests && `, ${tests.passed} of ${tests.ran} tests passed`}
          {tests && tests.skipped > 0 && `, ${tests.skipped} skipped`}
          {run.isFlaky && ', flaky'}
          {run.isReused && ', taken from an earlier run on the same tree'}
        </span>
      </summary>
      <Output text={outputTail || 'It printed nothing.'} />
      <p className="dim">
        tree <code>{run.tree.slice(0, 12)}</code>, output <code>{run.outputHash.slice(0, 12)}</code>, in{' '}
        <code>{run.cwd || '.'}</code>
      </p>
    </details>
  );
}
