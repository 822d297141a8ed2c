/** One iteration: what the agent claims, and what Pulse found. */
import { useIteration } from '../api/queries.ts';
import type { IterationView, Judgement } from '../api/types.ts';
import { count, duration, money, shortSha, words } from '../ui/format.ts';
import { Markdown } from '../ui/markdown.tsx';
import { Failure, Loading } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { At } from '../ui/time.tsx';
import { CheckRun } from './check-run.tsx';

interface ResultTabProps {
  id: string;
  iteration: number;
  judgement: Judgement | null;
}

export function ResultTab({ id, iteration, judgement }: ResultTabProps) {
  const { data, error } = useIteration(id, iteration);
  if (!data) return error ? <Failure error={error} /> : <Loading of="the iteration" />;
  const judged = judgement?.iteration === iteration ? judgement : null;
  return (
    <div className="result">
      <p className="result-head">
        <b>Iteration {data.iteration.iteration_number}</b>{' '}
        <Outcome word={data.iteration.outcome ?? data.iteration.status} />
        {data.iteration.started_at && <At at={data.iteration.started_at} />}
      </p>
      <div className="claims">
        <section>
          <h3>Claim of the agent</h3>
          <p>
            {data.iteration.signal ? (
              <code>{data.iteration.signal}</code>
            ) : (
              <span className="dim">no signal</span>
            )}{' '}
            {data.iteration.signal_source && (
              <span className="dim">{words(data.iteration.signal_source)}</span>
            )}
          </p>
          {data.iteration.output_full ? (
            <Markdown text={data.iteration.output_full} />
          ) : (
            <p className="dim">{data.iteration.output_summary ?? silence(data.iteration)}</p>
          )}
        </section>
        <section>
          <h3>Facts of Pulse</h3>
          <Facts view={data} />
          {judged && judged.reasons.length > 0 && (
            <ul className="reasons">
              {judged.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          )}
          {data.verifications.map((verification) => (
            <CheckRun
              key={`${verification.attempt}${verification.command}${verification.at}`}
              run={verification}
            />
          ))}
        </section>
      </div>
    </div>
  );
}

/** A merge of Pulse's own has no agent, and one that has ended says nothing more. */
function silence({ ended_at }: IterationView['iteration']): string {
  return ended_at === null ? 'It has said nothing yet.' : 'It said nothing.';
}

function Facts({ view: { iteration: item } }: { view: IterationView }) {
  const tokens = item.input_tokens + item.output_tokens;
  const took =
    item.started_at && item.ended_at ? Date.parse(item.ended_at) - Date.parse(item.started_at) : null;
  return (
    <dl className="facts facts-tall">
      <div>
        <dt>commit</dt>
        <dd>{item.commit_hash ? <code>{shortSha(item.commit_hash)}</code> : 'none'}</dd>
      </div>
      <div>
        <dt>files</dt>
        <dd>
          {item.files_changed.length === 0
            ? 'none changed'
            : item.files_changed.map((path) => (
                <code key={path} className="path">
                  {path}
                </code>
              ))}
        </dd>
      </div>
      {item.failure_class && (
        <div>
          <dt>failure</dt>
          <dd>{words(item.failure_class)}</dd>
        </div>
      )}
      <div>
        <dt>took</dt>
        <dd className="figures">
          {took === null ? 'still running' : duration(took)}
          {item.cost_usd !== null && item.cost_usd > 0 && `, ${money(item.cost_usd)}`}
          {tokens > 0 && `, ${count(tokens)} tokens`}
          {item.attempt > 1 && `, attempt ${item.attempt}`}
        </dd>
      </div>
    </dl>
  );
}
