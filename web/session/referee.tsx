/** What the referee looked at beside the commands: pins, replay, held-out checks, another's opinion, notes, the proof. */
import type { Judgement } from '../api/types.ts';
import { shortSha, words } from '../ui/format.ts';
import { At } from '../ui/time.tsx';

export function Referee({ judgement }: { judgement: Judgement }) {
  const { base, heldOut, flaky, decidedBy, decidedAt, allowedBy, proof } = judgement;
  return (
    <ul className="referee">
      {base?.commit && (
        <li>
          pins: the checks are those of <code>{shortSha(base.commit)}</code>
          {judgement.changes.length === 0 ? ', none was changed' : ''}
        </li>
      )}
      <Replay judgement={judgement} />
      {heldOut?.map(({ holds, tests }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are told by their place
        <li key={index}>
          held-out check {index + 1}: {holds ? 'holds' : 'does not hold'}
          {tests && `, ${tests.passed} of ${tests.ran}`}
        </li>
      ))}
      <Opinion judgement={judgement} />
      {judgement.notes.map(({ path, line, what, text }) => (
        <li key={`${path}${line}${what}`}>
          note, {words(what)}: <code>{`${path}:${line}`}</code> {text}
        </li>
      ))}
      {flaky.map((command) => (
        <li key={command}>
          flaky: <code>{command}</code>
        </li>
      ))}
      {allowedBy && <li>changed checks are allowed by the {allowedBy}</li>}
      {decidedBy && (
        <li>
          decided by {decidedBy} {decidedAt && <At at={decidedAt} />}
        </li>
      )}
      {proof && (
        <li>
          proof <code>{proof}</code>
        </li>
      )}
    </ul>
  );
}

function Replay({ judgement: { replay } }: { judgement: Judgement }) {
  if (!replay) return null;
  return (
    <li>
      replay with the old checks: {replay.passed ? 'they hold' : 'they do not hold'}
      {replay.commands.map(({ command, exit }) => (
        <span key={command}>
          , <code>{command}</code> → {exit === null ? 'no exit' : `exit ${exit}`}
        </span>
      ))}
    </li>
  );
}

function Opinion({ judgement: { opinion } }: { judgement: Judgement }) {
  if (!opinion) return null;
  return (
    <li>
      second opinion of {opinion.agent}
      {opinion.model && `, ${opinion.model}`}: {opinion.accept ? 'accepts' : 'does not accept'}{' '}
      {opinion.reasons.join('; ')}
      <ul className="reasons">
        {opinion.claims.map(({ text, verdict, where }) => (
          <li key={text}>
            {verdict}: {text} {where && <code>{where}</code>}
          </li>
        ))}
      </ul>
    </li>
  );
}
