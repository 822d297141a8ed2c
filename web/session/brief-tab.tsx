/** The text that the agent got, by its sections and what each costs. */
import { useBrief } from '../api/queries.ts';
import { count } from '../ui/format.ts';
import { Output } from '../ui/output.tsx';
import { Failure, Loading } from '../ui/parts.tsx';

export function BriefTab({ id, iteration }: { id: string; iteration: number }) {
  const { data, error } = useBrief(id, iteration);
  if (!data) return error ? <Failure error={error} /> : <Loading of="the brief" />;
  return (
    <div className="brief">
      <p className="dim">
        Iteration {data.iteration}: {count(data.tokens)} tokens
        {data.anchor && (
          <>
            , anchor <code>{data.anchor.turnId.slice(0, 8)}</code> {data.anchor.strategy}
          </>
        )}
        {data.contextTokens > 0 && `, context ${count(data.contextTokens)}`}
      </p>
      {data.sections.map(({ title, text, tokens }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the sections of one brief do not move
        <details key={`${index}${title}`} open={index < 2}>
          <summary>
            {title || 'Beginning'} <span className="dim figures">{count(tokens)}</span>
          </summary>
          <Output text={text} />
        </details>
      ))}
      {data.sections.length === 0 && <Output text={data.text} />}
    </div>
  );
}
