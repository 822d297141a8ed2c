/** What the agent printed and called, in order; while it runs, as it comes. */
import type { TranscriptEntry } from '../api/types.ts';
import { duration } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Button, Empty, Failure } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { useTranscriptTail } from './transcript-tail.ts';

interface TranscriptTabProps {
  id: string;
  iteration: number;
  /** More may come. */
  isOpen: boolean;
}

export function TranscriptTab({ id, iteration, isOpen }: TranscriptTabProps) {
  const { entries, about, error, isLoading, attempt, setAttempt } = useTranscriptTail(id, {
    iteration,
    isOpen,
  });
  const shown = entries.filter(isTold);
  return (
    <div className="transcript">
      {about && (
        <p className="dim transcript-head">
          {about.agent ?? 'agent'}, iteration {about.iteration}
          {about.attempts.length > 1 &&
            about.attempts.map((number) => (
              <Button
                key={number}
                isQuiet
                aria-pressed={number === attempt}
                onClick={() => setAttempt(number)}
              >
                attempt {number}
              </Button>
            ))}
          {!about.isRecorded && ', no recording is kept: this is from its events'}
        </p>
      )}
      <Failure error={error} />
      {!isLoading && shown.length === 0 && !error && (
        <Empty>The agent has printed nothing{isOpen ? ' yet' : ''}.</Empty>
      )}
      <Rows
        label="Transcript"
        className="entries"
        items={shown}
        keyOf={({ n }) => n}
        render={(entry) => <Entry entry={entry} />}
      />
    </div>
  );
}

/** That a tool ended well is told by what comes after it. */
function isTold({ kind, text, data }: TranscriptEntry): boolean {
  if (kind === 'tool_end') return data.ok === false;
  return kind !== 'usage' && text !== '';
}

function Entry({ entry }: { entry: TranscriptEntry }) {
  const { kind, text, atMs } = entry;
  const isTool = kind === 'tool_start' || kind === 'tool_end';
  const isProse = kind === 'text' || kind === 'done';
  return (
    <div className={`entry entry-${kind}`}>
      <span className="entry-at figures dim">{duration(atMs)}</span>
      {isProse ? (
        <Markdown text={text} />
      ) : (
        <div className="entry-line">
          {isTool && <Icon name="tool" />}
          {!isTool && <span className="dim">{kind}</span>} <code>{text}</code>
          {entry.data.ok === false && <span className="tone-failed"> failed</span>}
        </div>
      )}
    </div>
  );
}
