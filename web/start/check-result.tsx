/** What a start would come to. Nothing was created. */
import type { Check } from '../api/types.ts';
import { money, plural, wholeDuration } from '../ui/format.ts';

export function CheckResult({ check }: { check: Check }) {
  const { limits, dirty } = check;
  return (
    <section
      className={`decide ${check.isStartable ? 'tone-edge-done' : 'tone-edge-failed'}`}
      aria-label="Check"
    >
      <h2>{check.isStartable ? 'It can start' : 'It cannot start so'}</h2>
      {check.violations.map(({ path, message, hint }) => (
        <p key={`${path}${message}`} className="tone-failed">
          {path && <code>{path}</code>} {message} {hint && <span className="hint">{hint}</span>}
        </p>
      ))}
      <dl className="facts">
        {check.agent && (
          <div>
            <dt>agent</dt>
            <dd>{check.agent}</dd>
          </div>
        )}
        {check.base && (
          <div>
            <dt>base</dt>
            <dd>
              {check.base.name} <code>{check.base.commit.slice(0, 7)}</code>
            </dd>
          </div>
        )}
        <div>
          <dt>verify</dt>
          <dd>
            {check.isUnverified ? (
              <span className="tone-unverified">nothing: completions are UNVERIFIED</span>
            ) : (
              <code>{check.verify.join(' && ')}</code>
            )}
          </dd>
        </div>
        <div>
          <dt>limits</dt>
          <dd className="figures">
            {limits.maxIterations !== null && `${limits.maxIterations} iterations, `}
            {limits.budgetUsd === null ? 'no cost limit' : money(limits.budgetUsd)}
            {limits.timeLimitMs !== null && `, ${wholeDuration(limits.timeLimitMs)}`}
          </dd>
        </div>
      </dl>
      {check.isCostUnknown && (
        <p className="tone-needs">What this agent costs is not known: the budget in USD cannot bind.</p>
      )}
      {dirty.count > 0 && (
        <details>
          <summary className="tone-needs">
            {plural(dirty.count, 'changed file')} not included: they are not committed
          </summary>
          {dirty.files.map((file) => (
            <code key={file} className="path">
              {file}
            </code>
          ))}
        </details>
      )}
    </section>
  );
}
